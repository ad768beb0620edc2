public import Airtime
public import Configuration

extension Site {
    /// A picture of the floor, which is drawn behind the plan.
    public struct Picture: Sendable {
        /// The path of the PNG or JPEG file as written in the site file, relative to the site file.
        public var file: String
        /// The width of the picture on the floor, in m. The height follows from the shape of the picture.
        public var width: Double
        /// The position of the picture's lower left corner on the floor.
        public var position: FloorPosition
        /// The name of the picture in the site file, with its position for messages.
        public var node: JSONNode
        /// The contents of the file; nil until the caller reads it.
        public var image: PictureFile?

        /// Creates a picture of a site.
        public init(
            file: String, width: Double, position: FloorPosition, node: JSONNode, image: PictureFile? = nil
        ) {
            self.file = file
            self.width = width
            self.position = position
            self.node = node
            self.image = image
        }

        /// The path of the file.
        ///
        /// - Parameter site: The path of the site file. For `-` (standard input), the picture's path is relative to the
        ///   working directory.
        public func path(ofSite site: String) -> String {
            guard !file.hasPrefix("/"), let slash = site.lastIndex(of: "/") else { return file }
            return String(site[...slash]) + file
        }

        /// The height in metres of the area that the picture covers on the floor; nil until the picture is read.
        public var height: Double? { image.map { width * $0.aspectRatio } }
    }

    /// A receiver at a position on the floor.
    public struct Receiver: Hashable, Sendable {
        public let name: String
        public let position: FloorPosition

        public init(name: String, position: FloorPosition) {
            (self.name, self.position) = (name, position)
        }
    }
}
