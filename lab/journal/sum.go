package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// A line with a checksum is the JSON object without it, and a last member that is
// the CRC-32C (Castagnoli, RFC 3720) of that object: {…,"crc32c":"1a2b3c4d"}.
const (
	sumKey = `,"crc32c":"`
	sumLen = len(sumKey) + 8 + len(`"}`)
)

func formatSum(object []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(object, crc32.MakeTable(crc32.Castagnoli)))
}

// addSum inserts the checksum into a line, an object and a newline.
func addSum(line []byte) []byte {
	object := bytes.TrimSuffix(line, []byte("\n"))
	return fmt.Appendf(nil, "%s%s%s\"}\n", object[:len(object)-1], sumKey, formatSum(object))
}

// checkSum reports whether a line has a checksum, and whether it is correct or absent.
func checkSum(line []byte) (sealed, intact bool) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	at := len(text) - sumLen
	if at < 1 || !bytes.HasPrefix(text[at:], []byte(sumKey)) || !bytes.HasSuffix(text, []byte(`"}`)) {
		return false, true
	}
	object := append(bytes.Clone(text[:at]), '}')
	return true, formatSum(object) == string(text[at+len(sumKey):len(text)-2])
}
