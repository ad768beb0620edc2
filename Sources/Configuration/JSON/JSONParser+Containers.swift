extension JSONParser {
    /// From `{` to `}`.
    mutating func parseObject(path: JSONPath, depth: Int) -> JSONNode.Value? {
        let opening = scanner.position
        guard enter(depth, path: path) else { return nil }
        var members: [JSONMember] = []
        var places: [String: JSONPosition] = [:]
        skipSpace(path: path)
        while !scanner.take("}") {
            guard let member = parseMember(in: path, depth: depth) else {
                noteEnd(of: "object", opening, path: path)
                return nil
            }
            if let first = places[member.key] {
                report(
                    "the key \(ProblemText.quoted(member.key)) stands here a second time; the first is at \(first)",
                    at: member.keyPosition, path: path)
            } else {
                places[member.key] = member.keyPosition
                members.append(member)
            }
            guard finishItem(before: "}", of: "object", opening, path: path) else { return nil }
        }
        return .object(members)
    }

    /// From `[` to `]`.
    mutating func parseArray(path: JSONPath, depth: Int) -> JSONNode.Value? {
        let opening = scanner.position
        guard enter(depth, path: path) else { return nil }
        var elements: [JSONNode] = []
        skipSpace(path: path)
        while !scanner.take("]") {
            guard scanner.next != nil else {
                noteEnd(of: "list", opening, path: path)
                return nil
            }
            guard let element = parseValue(path: path.index(elements.count), depth: depth + 1) else { return nil }
            elements.append(element)
            guard finishItem(before: "]", of: "list", opening, path: path) else { return nil }
        }
        return .array(elements)
    }

    /// Takes the opening bracket, unless the nesting is too deep.
    private mutating func enter(_ depth: Int, path: JSONPath) -> Bool {
        guard depth < JSONDocument.depthLimit else {
            stop("more than \(JSONDocument.depthLimit) lists and objects inside each other", path: path)
            return false
        }
        scanner.take()
        return !isStopped
    }

    /// Key, colon and value.
    private mutating func parseMember(in path: JSONPath, depth: Int) -> JSONMember? {
        let position = scanner.position
        let key: String
        switch scanner.next {
        case "\"": key = parseString(path: path)
        case .some(let scalar) where Self.isWord(scalar):
            key = scanner.take(while: Self.isWord)
            report("the key \(ProblemText.shortened(key)) stands without double quotes", at: position, path: path)
        case .some(let scalar):
            stop("a key in double quotes is expected here, not \(Self.show(scalar))", path: path)
            return nil
        case nil: return nil
        }
        let valuePath = path.key(key)
        skipSpace(path: path)
        if !scanner.take(":") {
            guard let next = scanner.next, next != "}", next != ",", next != "=" else {
                stop("a colon and a value are expected after the key \(ProblemText.quoted(key))", path: path)
                return nil
            }
            report("a colon is missing after the key \(ProblemText.quoted(key))", at: scanner.position, path: path)
        }
        skipSpace(path: valuePath)
        guard !isStopped, let value = parseValue(path: valuePath, depth: depth + 1) else { return nil }
        return JSONMember(key: key, keyPosition: position, value: value)
    }

    /// After a member or an element: the comma, or nothing before the closing bracket.
    private mutating func finishItem(
        before closing: Unicode.Scalar, of kind: String, _ opening: JSONPosition, path: JSONPath
    ) -> Bool {
        skipSpace(path: path)
        guard let next = scanner.next, !isStopped else {
            noteEnd(of: kind, opening, path: path)
            return false
        }
        if next == closing { return true }
        let position = scanner.position
        if scanner.take(",") {
            skipSpace(path: path)
            if scanner.next == closing {
                report("the last item has no comma after it; take it out", at: position, path: path)
            } else if scanner.next == nil {
                noteEnd(of: kind, opening, path: path)
                return false
            }
            return !isStopped
        }
        guard next == "\"" || next == "{" || next == "[" || Self.isWord(next) || next == "-" else {
            stop("a comma or \"\(closing)\" is expected here, not \(Self.show(next))", path: path)
            return false
        }
        report("a comma is missing before this", at: position, path: path)
        return !isStopped
    }

    private mutating func noteEnd(of kind: String, _ opening: JSONPosition, path: JSONPath) {
        guard scanner.next == nil else { return }
        stop("the file ends inside the \(kind) that begins at \(opening)", path: path)
    }
}
