internal import Airtime
internal import BluetoothTypes
public import Configuration
internal import LinuxHost
public import Sites

extension PlanPageContent.FloorPlan {
    /// A picture of the floor, which is drawn behind everything else.
    public struct Picture: Sendable {
        /// The position of the picture's lower left corner on the floor.
        public var corner: PlanPageContent.Point
        /// The width on the floor in m.
        public var width: Double
        /// The height on the floor in m.
        public var height: Double
        /// The picture as a data URL, such as `data:image/png;base64,…`.
        public var address: String

        /// Creates the picture of a site; nil if the site has no picture, or if the file of the picture has not been
        /// read.
        public init?(of site: Site) {
            guard let picture = site.picture, let image = picture.image, let height = picture.height else { return nil }
            corner = .init(picture.position.x, picture.position.y)
            width = picture.width
            self.height = height
            address = image.dataAddress
        }
    }
}

extension PlanPageContent.FloorPlan {
    /// Sets the picture, the outline and the walls to those of a site.
    ///
    /// - Parameter wallLimit: The largest number of walls.
    package mutating func takeFloor(of site: Site, wallLimit: Int) {
        func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }
        picture = .init(of: site)
        outline = (site.outline?.corners ?? []).map(point)
        walls = site.walls.prefix(wallLimit).map {
            .init(from: point($0.from), to: point($0.to), attenuation: $0.attenuation)
        }
    }
}

extension FloorPlanFigure.Frame {
    /// Draws a picture of the floor. Parts of the picture outside the drawing are cut off.
    package func draw(_ picture: PlanPageContent.FloorPlan.Picture?, in drawing: inout SVG) {
        guard let picture else { return }
        let upperLeft = place(.init(picture.corner.x, picture.corner.y + picture.height))
        drawing.image(
            picture.address, upperLeft.x, upperLeft.y, picture.width * scale, picture.height * scale,
            class: "floorPicture")
    }
}

/// The error if the picture that a site file names cannot be used.
public struct FloorPictureError: Error {
    /// The problem, with its position in the site file.
    public let problem: FileProblem
    /// True if the picture's file does not exist.
    public let isMissing: Bool
}

extension Site {
    /// Reads the file of the picture, if the site has one.
    ///
    /// - Parameter path: The path of the site file. For `-` (standard input), the picture's path is relative to the
    ///   working directory.
    public mutating func readPicture(ofSite path: String) throws(FloorPictureError) {
        guard let picture else { return }
        func refusal(_ reason: String, isMissing: Bool = false) -> FloorPictureError {
            FloorPictureError(
                problem: FileProblem(
                    "\(ProblemText.quoted(picture.file)) \(reason)", at: picture.node.position, path: picture.node.path),
                isMissing: isMissing)
        }
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.readInput(picture.path(ofSite: path), limit: PictureFile.octetLimit)
        } catch  where error.errno == SystemError.tooLarge {
            throw refusal("\(PictureFile.Fault.tooLarge)")
        } catch {
            throw refusal("cannot be read: \(error.text)", isMissing: error.errno == SystemError.noEntry)
        }
        do throws(PictureFile.Fault) {
            self.picture?.image = try PictureFile(octets)
        } catch {
            throw refusal("\(error)")
        }
    }
}
