internal import Configuration

/// A tag or an attachment of a fleet file. It is filled for each beacon.
struct NoteTemplate: Sendable {
    /// The key of an attachment; `nil` for a tag.
    var key: String?
    var expression: Expression
    var node: JSONNode

    /// The maximum number of characters, which is the same as in listener files.
    var limit: Int { key == nil ? ConfigurationDecoder.labelLimit : 1000 }

    /// The type of a tag or an attachment: any string whose variables have valid names.
    private static let text = ValueType<NoteTemplate>(schema: ["type": "string"]) { decoder, node in
        guard let text = decoder.text(node) else { return nil }
        do throws(Expression.Fault) {
            return NoteTemplate(expression: try Expression(text), node: node)
        } catch {
            decoder.error(error.description, at: node)
            return nil
        }
    }

    static let tags = ValueType<[NoteTemplate]>.list("tags", 1...Int.max, of: text, isUnique: true)

    static let attachments = ValueType<[NoteTemplate]>(
        schema: ["type": "object", "additionalProperties": .object(text.schema)]
    ) { decoder, node in
        guard let members = node.members else {
            decoder.wrongKind(node, expected: "an object with a text under each key")
            return nil
        }
        return members.compactMap { member in
            guard var note = text.read(&decoder, member.value) else { return nil }
            note.key = member.key
            return note
        }
    }
}
