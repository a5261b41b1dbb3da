package textfile

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

func packGzip(t *testing.T, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func packZstd(t *testing.T, text string) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

func encodeUTF16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// bzipped is "hello\n", of bzip2 -9.
const bzipped = "QlpoOTFBWSZTWcHAgOIAAAFBAAAQAkSgADDNAMNGKZcXckU4UJDBwIDi"

func TestOpen(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	const text = "héllo 𝄞\n"
	le, be := encodeUTF16(binary.LittleEndian, text), encodeUTF16(binary.BigEndian, text)
	for name, tt := range map[string]struct{ src, text, found string }{
		"plain":            {text, text, ""},
		"empty":            {"", "", ""},
		"one byte":         {"7", "7", ""},
		"not UTF-8":        {"a\xe9", "a\xe9", ""},
		"mark":             {markUTF8 + text, text, "a byte order mark"},
		"only a mark":      {markUTF8, "", "a byte order mark"},
		"UTF-16 LE":        {le, text, "UTF-16"},
		"UTF-16 BE":        {be, text, "UTF-16"},
		"only a UTF-16 LE": {"\xff\xfe", "", "UTF-16"},
		"gzip":             {packGzip(t, text), text, "gzip"},
		"two of gzip":      {packGzip(t, text) + packGzip(t, text), text + text, "gzip"},
		"zstd":             {packZstd(t, text), text, "zstd"},
		"two of zstd":      {packZstd(t, text) + packZstd(t, text), text + text, "zstd"},
		"bzip2":            {string(packed), "hello\n", "bzip2"},
		"UTF-16 in gzip":   {packGzip(t, be), text, "gzip, UTF-16"},
		"zstd in gzip":     {packGzip(t, packZstd(t, markUTF8+text)), text, "gzip, zstd, a byte order mark"},
		"text that begins": {"BZh9 is how bzip2 begins", "BZh9 is how bzip2 begins", ""},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.src), iotest.OneByteReader(strings.NewReader(tt.src)), iotest.DataErrReader(strings.NewReader(tt.src))} {
			f, err := Open(r)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := io.ReadAll(f)
			if err != nil || string(got) != tt.text || f.Found() != tt.found {
				t.Errorf("%s: %q of %q, %v; want %q of %q", name, got, f.Found(), err, tt.text, tt.found)
			}
		}
	}
}

// A text in UTF-16 that is longer than all buffers loses no character at their ends.
func TestLongUTF16(t *testing.T) {
	text := strings.Repeat("aé€𝄞", 300_000)
	f, err := Open(strings.NewReader(encodeUTF16(binary.LittleEndian, text)))
	if err != nil {
		t.Fatal(err)
	}
	if begin, err := f.Peek(peekSize); err != nil || string(begin) != text[:peekSize] {
		t.Fatalf("peeked at %d bytes, %v", len(begin), err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"\xfd7zXZ\x00\x00", "the file is compressed (xz), which is not read; unpack it first, e.g. by xz -dc"},
		{"PK\x03\x04", "the file is compressed (zip), which is not read; unpack it first, e.g. by unzip -p"},
		{"\xff\xfe\x00\x00a\x00\x00\x00", "the file is UTF-32; convert it, e.g. iconv -f UTF-32 -t UTF-8"},
		{"{\x00}\x00", "the file is perhaps UTF-16 without a byte order mark; convert it, e.g. iconv -f UTF-16LE -t UTF-8"},
		{"\x00{\x00}", "the file is perhaps UTF-16 without a byte order mark; convert it, e.g. iconv -f UTF-16LE -t UTF-8"},
		{"\xff\xfea\x00b", "the text is not UTF-16: it ends after 5 bytes, an odd number"},
		{"\xff\xfe\x00\xd8a\x00", "the text is not UTF-16: half of a surrogate pair before offset 6"},
		{"\xff\xfe\x00\xd8", "the text is not UTF-16: half of a surrogate pair before offset 4"},
		{"\x1f\x8b\x08", "the file is damaged or cut off (gzip: unexpected EOF)"},
		{packGzip(t, packGzip(t, packGzip(t, packGzip(t, "x")))), "compressed more than 3 times"},
	} {
		f, err := Open(strings.NewReader(tt.src))
		if err == nil {
			_, err = io.ReadAll(f)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.20q: %v\nwant %s", tt.src, err, tt.want)
		}
	}
	broken := errors.New("broken")
	if _, err := Open(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	packed := packGzip(t, strings.Repeat("text that is cut off. ", 1000))
	if f, err := Open(strings.NewReader(packed[:len(packed)-9])); err != nil {
		t.Error(err)
	} else if _, err := io.ReadAll(f); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off: %v", err)
	}
	if _, err := io.ReadAll(&unpacker{r: strings.NewReader("12345"), left: 4}); err == nil || !strings.Contains(err.Error(), "bytes unpacked") {
		t.Errorf("too long: %v", err)
	}
}

// No file makes Open or its text panic, and a text in UTF-8 without a mark stays as it is.
func FuzzOpen(f *testing.F) {
	for _, src := range []string{"", "text", markUTF8 + "x", "\xff\xfe\x00\xd8\x00\xdc", "\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd\x04\x00", "BZh91AY&SY"} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		text, err := Open(bytes.NewReader(src))
		if err != nil {
			return
		}
		got, err := io.ReadAll(io.LimitReader(text, 16<<20))
		if text.Found() == "" && (err != nil || !bytes.Equal(got, src)) {
			t.Errorf("%q of %q, %v", got, src, err)
		}
		if text.Found() == "UTF-16" && err == nil && !utf8.Valid(got) {
			t.Errorf("%q is not UTF-8", got)
		}
	})
}
