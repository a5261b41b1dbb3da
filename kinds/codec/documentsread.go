package codec

import (
	"bytes"
	"fmt"
	"io"
)

// MaxRead is the largest number of bytes that are read of one file. More documents would not be
// measured, but take memory and time. A larger file of a study is rejected.
const MaxRead = 32 << 20

// ReadDocuments is [Documents] for the content of r. It reads at most [MaxRead] bytes. If r has more,
// with a document on each line, ReadDocuments returns the documents on complete lines of the start,
// and a note. The error is a *[SyntaxError], or an error of r.
func ReadDocuments(name string, r io.Reader) (docs []Document, notes []string, err error) {
	return readDocuments(name, r, MaxRead)
}

// readDocuments is ReadDocuments with another limit than MaxRead.
func readDocuments(name string, r io.Reader, maxBytes int) (docs []Document, notes []string, err error) {
	src, err := io.ReadAll(io.LimitReader(r, int64(maxBytes)+1))
	if err != nil {
		return nil, nil, err
	}
	if len(src) <= maxBytes {
		return Documents(name, src)
	}
	src = src[:maxBytes]
	f := &text{name: name, src: src}
	const cutOff = true                                // src may end within a character
	if _, err := f.checkEncoding(cutOff); err != nil { // Documents repeats the notes
		return nil, nil, err
	}
	end := bytes.LastIndexByte(src, '\n') + 1
	if end == 0 || !f.isLines(trimSpace(f.src)) {
		return nil, nil, f.errorAt(0, fmt.Sprintf("a document of more than %.1f MB", float64(maxBytes)/1e6), sizeHint())
	}
	docs, notes, err = Documents(name, src[:end])
	if err == nil {
		notes = append(notes, fmt.Sprintf("%s: only the first %.1f MB of it are read, %d documents; shuf -n 1000 makes a selection of all of it", name, float64(end)/1e6, len(docs)))
	}
	return docs, notes, err
}

// sizeHint returns advice about a document that is too large.
func sizeHint() string {
	return fmt.Sprintf("at most %.1f MB can be measured; several smaller ones, one a line, can", float64(MaxDocument)/1e6)
}

// detectCompression returns the format of a compressed file and the command that unpacks it. format
// is "" if the first bytes of src are not those of a compressed file.
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
