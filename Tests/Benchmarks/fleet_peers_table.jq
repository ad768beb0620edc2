# The table of a manifest that fleet_peers.jq made, one advertisement a line: `jq -rf fleet_peers_table.jq MANIFEST`.
(.group | split("/")) as $group
| . as $beacon
| .advertisements | to_entries[] | .key as $index | .value
| [
    $beacon.name, $group[0], $group[1], $group[2], $beacon.host, $beacon.serial, "", "", "", $beacon.position.x,
    $beacon.position.y, "", "", "", "", "", $index + 1, .type, .uuid, .major, .minor, "", "", "", "", .url, .intervalMs,
    "", .measuredPowerDbm, "", "", ""
  ]
| @csv
