package codec

import (
	"bytes"
	"fmt"
	"io"
)

// MaxRead is the largest number of bytes that are read of a file with documents. A study with a
// larger file is rejected.
const MaxRead = 32 << 20

// ReadDocuments is [Documents] for the content of r. If r has more than [MaxRead] bytes, it returns
// the documents on the complete lines that it has read, with a note. The error is a *[SyntaxError],
// or an error of r.
func ReadDocuments(name string, r io.Reader) (docs []Document, notes []string, err error) {
	return readDocuments(name, r, MaxRead)
}

func readDocuments(name string, r io.Reader, maxBytes int) (docs []Document, notes []string, err error) {
	src, err := io.ReadAll(io.LimitReader(r, int64(maxBytes)+1))
	if err != nil {
		return nil, nil, err
	}
	if len(src) <= maxBytes {
		return Documents(name, src)
	}
	src = src[:maxBytes]
	f := &text{name: name, src: src, isCut: true}
	if _, err := f.checkEncoding(); err != nil { // Documents returns its notes again
		return nil, nil, err
	}
	end := bytes.LastIndexByte(src, '\n') + 1
	if end == 0 || !f.isLines(trimSpace(f.src)) {
		return nil, nil, f.errorAt(0, fmt.Sprintf("a document of more than %.1f MB", float64(maxBytes)/1e6), sizeHint())
	}
	docs, notes, err = Documents(name, src[:end])
	if err == nil {
		notes = append(notes, fmt.Sprintf("%s: only the first %.1f MB are read, %d documents; shuf -n 1000 selects lines of the complete file", name, float64(end)/1e6, len(docs)))
	}
	return docs, notes, err
}

func sizeHint() string {
	return fmt.Sprintf("at most %.1f MB can be measured; write several smaller documents, one per line", float64(MaxDocument)/1e6)
}

// detectCompression returns the format of a compressed file, by its first bytes, and the command
// that unpacks it. format is "" if the file is not compressed.
func detectCompression(src []byte) (format, command string) {
	for _, p := range []struct{ magic, format, command string }{
		{"\x1f\x8b", "gzip", "gzip -dc"},
		{"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"},
		{"PK\x03\x04", "zip", "unzip -p"},
		{"BZh", "bzip2", "bzip2 -dc"},
		{"\xfd7zXZ\x00", "xz", "xz -dc"},
	} {
		if bytes.HasPrefix(src, []byte(p.magic)) {
			return p.format, p.command
		}
	}
	return "", ""
}
