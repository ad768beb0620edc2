/// A fleet file to start from, with the table that it may need.
public enum FleetSample: String, CaseIterable, Sendable {
    /// Rooms on floors, iBeacon with Eddystone-URL and telemetry, Home Assistant among the listeners.
    case museum
    /// Several sites, Eddystone-UID under a namespace made from a domain.
    case shop
    /// A table from the facilities, with its own names for the columns.
    case carPark = "car-park"

    /// The fleet file.
    public var text: String {
        switch self {
        case .museum: Self.museumText
        case .shop: Self.shopText
        case .carPark: Self.carParkText
        }
    }

    /// The table that the fleet file names, and its name there.
    public var table: (name: String, text: String)? {
        self == .carPark ? (Self.carParkTableName, Self.carParkTable) : nil
    }

    private static let carParkTableName = "car-park.csv"

    private static let museumText = #"""
        {
          "version": 1,
          "name": "museum",
          "listeners": ["android", "ios", "home-assistant"],
          "template": {
            "adapter": "hci0",
            "radioPowerDbm": "${power}",
            "calibration": { "-8": -67, "0": -59, "default": -59 },
            "advertisements": [
              {
                "type": "ibeacon",
                "uuid": "3c2a6f0e-5b1d-4e77-9a48-0d6f2c9b7e11",
                "major": "${major}",
                "minor": "${minor}",
                "intervalMs": "${intervalMs}"
              },
              { "type": "eddystone-url", "url": "https://example.org/${page}", "intervalMs": 1000 },
              { "type": "eddystone-tlm", "intervalMs": 10000 }
            ],
            "scanResponse": { "localName": "${room} ${page}" }
          },
          "defaults": {
            "controller": "raspberry-pi",
            "variables": { "intervalMs": 400, "power": 0 }
          },
          "identities": {
            "major": { "per": "floor" },
            "minor": { "within": "floor" }
          },
          "groups": [
            {
              "name": "museum",
              "groups": [
                {
                  "name": "ground",
                  "groups": [
                    {
                      "name": "hall",
                      "variables": { "intervalMs": 250 },
                      "beacons": [
                        {
                          "name": "hall-entrance", "host": "pi-01", "position": [2.5, 1],
                          "variables": { "page": "in" }
                        },
                        {
                          "name": "hall-desk", "host": "pi-02", "position": [9, 4.5],
                          "variables": { "page": "desk" }
                        }
                      ]
                    },
                    {
                      "name": "ships",
                      "beacons": [
                        {
                          "name": "ships-cog", "host": "pi-03", "position": [14, 3],
                          "variables": { "page": "cog" }
                        },
                        {
                          "name": "ships-figurehead", "host": "pi-04", "position": [18, 9],
                          "variables": { "page": "head" }
                        }
                      ]
                    }
                  ]
                },
                {
                  "name": "upper",
                  "variables": { "power": -8 },
                  "groups": [
                    {
                      "name": "maps",
                      "beacons": [
                        {
                          "name": "maps-globe", "host": "pi-05", "position": [4, 4, 4.2],
                          "variables": { "page": "globe" }
                        }
                      ]
                    }
                  ]
                }
              ]
            }
          ]
        }

        """#

    private static let shopText = #"""
        {
          "version": 1,
          "name": "shop",
          "listeners": ["android", "gateway"],
          "template": {
            "advertisements": [
              {
                "type": "eddystone-uid",
                "namespace": "${namespace}",
                "instance": "${instance}",
                "intervalMs": "${intervalMs}",
                "measuredPower1mDbm": -59
              },
              {
                "type": "eddystone-url",
                "url": "https://example.com/${shelf}",
                "intervalMs": 1200,
                "measuredPower1mDbm": -59
              }
            ]
          },
          "defaults": {
            "controller": "extended",
            "variables": { "intervalMs": 500 }
          },
          "identities": {
            "namespace": { "domain": "example.com" },
            "instance": { "from": "counter" }
          },
          "groups": [
            { "name": "berlin" },
            { "name": "hamburg", "variables": { "intervalMs": 700 } }
          ],
          "beacons": [
            { "name": "berlin-till", "group": "berlin", "host": "10.1.0.11", "variables": { "shelf": "till" } },
            { "name": "berlin-milk", "group": "berlin", "host": "10.1.0.12", "variables": { "shelf": "milk" } },
            { "name": "hamburg-till", "group": "hamburg", "host": "10.2.0.11", "variables": { "shelf": "till" } },
            { "name": "hamburg-milk", "group": "hamburg", "host": "10.2.0.12", "variables": { "shelf": "milk" } },
            { "name": "hamburg-bread", "group": "hamburg", "host": "10.2.0.13", "variables": { "shelf": "bread" } }
          ]
        }

        """#

    private static let carParkText = #"""
        {
          "version": 1,
          "name": "car-park",
          "listeners": ["ios", "android"],
          "template": {
            "radioPowerDbm": 0,
            "advertisements": [
              {
                "type": "ibeacon",
                "uuid": "${uuid}",
                "major": "${major}",
                "minor": "${minor}",
                "intervalMs": "${interval}",
                "measuredPowerDbm": -59
              },
              {
                "type": "altbeacon",
                "companyId": "0x0118",
                "id": "8b0ca750095477cb3e770011223344550000${bay}",
                "intervalMs": 1000,
                "measuredPowerDbm": -59
              }
            ]
          },
          "defaults": {
            "controller": "bluetooth-5",
            "variables": { "interval": 300, "uuid": "7d5f2b18-60c3-4f0e-8b6a-51e0a4d93c27" }
          },
          "identities": {
            "major": { "per": "floor", "first": 100 },
            "minor": { "within": "floor" }
          },
          "groups": [
            { "name": "station", "groups": [ { "name": "p1" }, { "name": "p2", "variables": { "interval": 600 } } ] }
          ],
          "beacons": {
            "csv": "car-park.csv",
            "columns": { "name": "Box", "floor": "Level", "site": "Car park", "bay": "Bay" }
          }
        }

        """#

    private static let carParkTable = #"""
        Box,Car park,Level,Bay,host,serial,x,y,interval,Remarks
        p1-entry,station,p1,0101,10.9.1.1,10000000a1b20101,1.5,0,200,"behind the barrier, left"
        p1-lift,station,p1,0102,10.9.1.2,10000000a1b20102,30,12.5,,
        p1-stairs,station,p1,0103,10.9.1.3,10000000a1b20103,62,3,,
        p2-lift,station,p2,0201,10.9.2.1,10000000a1b20201,30,12.5,,"needs a ""short"" ladder"
        p2-ramp,station,p2,0202,10.9.2.2,10000000a1b20202,8,24,200,

        """#
}
