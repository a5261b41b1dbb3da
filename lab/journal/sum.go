package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// A line with a checksum is a JSON object with one more member at its end: {…,"crc32c":"1a2b3c4d"}.
// This is the CRC-32C (Castagnoli, RFC 3720) of the object without the member.
const (
	sumKey = `,"crc32c":"`
	sumLen = len(sumKey) + 8 + len(`"}`) // 8 hexadecimal digits
)

func formatSum(object []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(object, crc32.MakeTable(crc32.Castagnoli)))
}

// addSum adds the checksum to a line, which is an object and a newline.
func addSum(line []byte) []byte {
	object := bytes.TrimSuffix(line, []byte("\n"))
	return fmt.Appendf(nil, "%s%s%s\"}\n", object[:len(object)-1], sumKey, formatSum(object))
}

// checkSum reports whether a line has a checksum. intact is false if the checksum is wrong.
func checkSum(line []byte) (hasSum, intact bool) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	start := len(text) - sumLen
	if start < 1 || !bytes.HasPrefix(text[start:], []byte(sumKey)) || !bytes.HasSuffix(text, []byte(`"}`)) {
		return false, true
	}
	object := append(bytes.Clone(text[:start]), '}')
	return true, formatSum(object) == string(text[start+len(sumKey):len(text)-2])
}
