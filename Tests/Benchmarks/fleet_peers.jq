# The manifest of the benchmark's fleet, one beacon a line, from its table: `jq -Rnc -f fleet_peers.jq TABLE`. Of what
# fleet_peers.py does it leaves out address and fingerprint, which jq cannot compute, and reads no quotes in cells.
def once($what; list): (list | length) as $all | if (list | unique | length) == $all then . else error($what + " twice") end;
"fb0b57a2-8228-44cd-913a-94a122ba1206" as $uuid
| input
| [inputs | split(",")]
| once("a name"; map(.[0]))
| [group_by(.[1]) | to_entries[] | .key as $site | .value | to_entries[]
    | .value + [$site + 1, .key + 1]]
| once("an identity"; map("\(.[9]) \(.[10])"))
| once("a page"; map(.[8]))
| .[]
| {
    name: .[0], group: "\(.[1])/\(.[2])/\(.[3])", host: .[4], serial: .[5],
    position: {x: .[6] | tonumber, y: .[7] | tonumber},
    advertisements: [
      {type: "ibeacon", uuid: $uuid, major: .[9], minor: .[10], intervalMs: 2500, measuredPowerDbm: -59},
      {type: "eddystone-url", url: "https://e.org/\(.[8])", intervalMs: 2500, measuredPowerDbm: -18}]
  }
