/// Figures with names, a line for each thing that was measured.
struct FigureTable {
    struct Column {
        let title: String
        /// The figure's name in JSON.
        let name: String
        let digits: Int

        init(_ title: String, _ name: String, digits: Int) {
            self.title = title
            self.name = name
            self.digits = digits
        }
    }

    let title: String
    let columns: [Column]
    /// What does not apply is nil.
    var rows: [(name: String, figures: [Double?])] = []

    /// The median, of at least one.
    static func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

extension Report {
    func text(of table: FigureTable) -> String {
        switch self {
        case .json:
            return table.rows.map { row in
                let members = zip(table.columns, row.figures).map { "\"\($0.name)\":\($1?.fixed($0.digits) ?? "null")" }
                return "{\"name\":\"\(row.name)\",\(members.joined(separator: ","))}"
            }.joined(separator: "\n")
        case .table:
            let width = 2 + (table.rows.map(\.name.count).max() ?? 0)
            var lines = [table.title, "  " + "".padded(to: width) + table.columns.map { $0.title.aligned(to: 17) }.joined()]
            for row in table.rows {
                let cells = zip(table.columns, row.figures).map { ($1?.fixed($0.digits) ?? "-").aligned(to: 17) }
                lines.append("  " + row.name.padded(to: width) + cells.joined())
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }
}
