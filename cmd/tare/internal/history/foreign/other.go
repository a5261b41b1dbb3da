package foreign

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"unicode/utf16"
)

// Decode returns a text in UTF-8 if it begins with the mark of UTF-16, as PowerShell
// writes output that is redirected, else the text itself.
func Decode(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// benchstat is how the tables of benchstat begin: those of today, and those of before 2023.
var benchstat = regexp.MustCompile(`(?m)^ +│.*│|^name( +old)? +(old )?(time|alloc|allocs|speed)/op|^,[^\n]*,CI(,|$)`)

// describeOther returns what a file is that is not read, and what to import instead;
// nothing if it may be read.
func describeOther(text []byte) (what, right string) {
	start := text[:min(len(text), sniffed)]
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return "compressed by gzip", "gzip -dc FILE | tare history import -"
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "compressed by zstd", "zstd -dc FILE | tare history import -"
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return "a zip archive", "unpack it, and import what is in it"
	case len(start) > 3 && (start[0] == 0 || start[1] == 0):
		return "not UTF-8, but perhaps UTF-16 without its mark", "save it as UTF-8"
	case benchstat.Match(start) && !bytes.Contains(text, []byte(" ns/op")):
		return "a table of benchstat", "import the output of go test that benchstat read: a table has no rounds"
	}
	return "", ""
}
