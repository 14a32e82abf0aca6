package manifest

import "bytes"

// text is a part of a file and the line on which it begins.
type text struct {
	text []byte
	line int
}

// at returns the line of the byte at offset.
func (t text) at(offset int) int {
	offset = max(0, min(offset, len(t.text)))
	return t.line + bytes.Count(t.text[:offset], []byte("\n"))
}

// split cuts a YAML stream into its documents. Parts without content are left
// out.
func split(data []byte) []text {
	var parts []text
	start, startLine, filled := 0, 1, false
	cut := func(end, line int) {
		if filled {
			parts = append(parts, text{text: data[start:end], line: startLine})
		}
		start, startLine, filled = end, line, false
	}
	for pos, line := 0, 1; pos < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		row := data[pos:end]
		switch {
		case isMarker(row, "---"):
			cut(pos, line)
			filled = hasContent(row[3:])
		case isMarker(row, "..."):
			cut(pos, line)
			start, startLine = end, line+1
		case !filled:
			filled = row[0] != '%' && hasContent(row)
		}
		pos = end
	}
	cut(len(data), 0)
	return parts
}

// isMarker tells whether the line begins or ends a document.
func isMarker(row []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(row, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// hasContent tells whether there is more than space and comment.
func hasContent(row []byte) bool {
	row = bytes.TrimLeft(row, " \t\r\n")
	return len(row) > 0 && row[0] != '#'
}
