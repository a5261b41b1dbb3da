package h2

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// read decodes a block into lines of the form name: value.
func read(d *Decoder, block []byte) (string, error) {
	var b strings.Builder
	err := d.Decode(block, func(name, value []byte) error {
		fmt.Fprintf(&b, "%s: %s\n", name, value)
		return nil
	})
	return b.String(), err
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	assert.NoError(t, "hex", err)
	return b
}

// step is one block of a connection, with the content of the table after it.
type step struct {
	block, fields string
	size          int
}

// The examples of RFC 7541, appendix C, each on a separate connection.
func TestAppendixC(t *testing.T) {
	const (
		first  = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n"
		second = first + "cache-control: no-cache\n"
		third  = ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value\n"

		found = ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n"
		moved = ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n"
		fine  = ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n" +
			"content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n"
	)
	for name, c := range map[string]struct {
		limit int
		steps []step
	}{
		"C.2.1": {TableSize, []step{{"400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header\n", 55}}},
		"C.2.2": {TableSize, []step{{"040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path\n", 0}}},
		"C.2.3": {TableSize, []step{{"1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret\n", 0}}},
		"C.2.4": {TableSize, []step{{"82", ":method: GET\n", 0}}},
		"C.3": {TableSize, []step{
			{"8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", first, 57},
			{"8286 84be 5808 6e6f 2d63 6163 6865", second, 110},
			{"8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", third, 164},
		}},
		"C.4": {TableSize, []step{
			{"8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", first, 57},
			{"8286 84be 5886 a8eb 1064 9cbf", second, 110},
			{"8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", third, 164},
		}},
		"C.5": {256, []step{
			{"4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", found, 222},
			{"4803 3330 37c1 c0bf", moved, 222},
			{"88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31", fine, 215},
		}},
		"C.6": {256, []step{
			{"4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3", found, 222},
			{"4883 640e ffc1 c0bf", moved, 222},
			{"88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07", fine, 215},
		}},
	} {
		d := NewDecoder(c.limit)
		for round := range 2 { // a second time from the beginning
			for i, s := range c.steps {
				got, err := read(d, unhex(t, s.block))
				assert.NoError(t, name, err)
				assert.Equal(t, fmt.Sprintf("%s, block %d, round %d", name, i, round), got, s.fields)
				assert.Equal(t, name+", size of the table", d.table.size, s.size)
			}
			d.Reset()
		}
	}
}

// The examples of section C.1.
func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		n, prefix int
		hex       string
	}{{10, 5, "0a"}, {1337, 5, "1f9a0a"}, {42, 8, "2a"}, {30, 5, "1e"}, {31, 5, "1f00"}, {1 << 28, 7, "7f81ffff7f"}} {
		b := appendInteger(nil, 0, c.prefix, c.n)
		assert.Equal(t, "encoded", hex.EncodeToString(b), c.hex)
		n, rest, err := readInteger(append(b, 0xaa), c.prefix)
		assert.NoError(t, c.hex, err)
		assert.Equal(t, c.hex, n, c.n)
		assert.Equal(t, c.hex+", the rest", len(rest), 1)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for block, want := range map[string]string{
		"80":                     "an index of nothing",
		"be":                     "an index of nothing",
		"ff8001":                 "an index of nothing",
		"7f00 00":                "an index of nothing",
		"0f80 01 00":             "an index of nothing",
		"ff":                     "cut off",
		"ff80":                   "cut off",
		"ffffffffffff01":         "too large",
		"00ff8080808080":         "too large",
		"40":                     "cut off",
		"4001":                   "cut off",
		"400161":                 "cut off",
		"40016105 31":            "cut off",
		"3f01":                   "larger than was allowed",
		"82 20":                  "behind fields",
		"0001 61 81 00":          "no Huffman code", // three zeros behind '0'
		"0001 61 82 07ff":        "no Huffman code", // eleven ones behind '0'
		"0001 61 84 ffffffff":    "no Huffman code", // the end itself
		"0001 61 81 ff":          "no Huffman code", // eight ones
		"0081 fe 00":             "no Huffman code",
		"0001 61 83 1c 64 20 82": "no Huffman code",
	} {
		_, err := read(NewDecoder(0), unhex(t, block))
		assert.ErrorContains(t, block, err, want)
	}
	// What the function says is what Decode returns.
	err := NewDecoder(0).Decode([]byte{0x82, 0x84}, func(name, _ []byte) error { return Error(name) })
	assert.ErrorIs(t, "field", err, Error(":method"))
}

// A table of 0 bytes stores nothing, and literals that would be added to it are ordinary fields.
func TestNoTable(t *testing.T) {
	d := NewDecoder(0)
	for range 2 {
		got, err := read(d, unhex(t, "20 20 400161 0162 4103 7777 77 88"))
		assert.NoError(t, "block", err)
		assert.Equal(t, "fields", got, "a: b\n:authority: www\n:status: 200\n")
		assert.Equal(t, "entries", len(d.table.entries), 0)
	}
	_, err := read(d, []byte{0xbe})
	assert.ErrorContains(t, "the first entry", err, "an index of nothing")
}

// A table that shrinks keeps its newest entries. A table that is too small for an entry is empty
// after it.
func TestTableShrinks(t *testing.T) {
	d := NewDecoder(200)
	b := unhex(t, "400161 0162 400163 0164 400165 0166") // 34 bytes each
	_, err := read(d, b)
	assert.NoError(t, "three entries", err)
	got, err := read(d, unhex(t, "3f31 be bf")) // 80 bytes: two of them
	assert.NoError(t, "shrink", err)
	assert.Equal(t, "fields", got, "e: f\nc: d\n")
	_, err = read(d, []byte{0xc0})
	assert.ErrorContains(t, "the oldest", err, "an index of nothing")
	_, err = read(d, huge(nil))
	assert.NoError(t, "huge", err)
	assert.Equal(t, "entries", len(d.table.entries), 0)
	assert.Equal(t, "size", d.table.size, 0)
}

// huge appends a literal of 300 bytes that is added to the table.
func huge(b []byte) []byte {
	b = append(b, 0x40, 1, 'a')
	return append(appendInteger(b, 0, 7, 300), make([]byte, 300)...)
}

func TestFieldsAreReadAsWritten(t *testing.T) {
	var block []byte
	var want strings.Builder
	for _, f := range [][2]string{
		{":method", "GET"}, {":method", "POST"}, {":method", "PATCH"}, {":path", "/"}, {":path", "/a?b=c"}, {":status", "404"}, {"accept-encoding", "gzip, deflate"},
		{"te", "trailers"}, {"x-long", strings.Repeat("long ", 100)}, {strings.Repeat("n", 200), ""}, {"www-authenticate", "x"},
	} {
		block = AppendField(block, f[0], f[1])
		fmt.Fprintf(&want, "%s: %s\n", f[0], f[1])
	}
	got, err := read(NewDecoder(0), append([]byte{0x20}, block...))
	assert.NoError(t, "decode", err)
	assert.Equal(t, "fields", got, want.String())
	assert.Equal(t, "GET takes a byte", len(AppendField(nil, ":method", "GET")), 1)
	b := AppendLiteral([]byte("before"), ":path", "/index.html")
	assert.Equal(t, "what comes last", string(b[len(b)-11:]), "/index.html")
}

// squeeze encodes a string with the Huffman code, which it derives from the lengths.
func squeeze(s string) []byte {
	bits := ""
	for i := range len(s) {
		at := 0
		for huffmanCode.bytes[at] != s[i] {
			at++
		}
		bits += fmt.Sprintf("%0*b", lengths[s[i]], uint32(at)-huffmanCode.shift[lengths[s[i]]])
	}
	for len(bits)%8 != 0 {
		bits += "1"
	}
	var out []byte
	for ; bits != ""; bits = bits[8:] {
		var b byte
		fmt.Sscanf(bits[:8], "%b", &b)
		out = append(out, b)
	}
	return out
}

// The codes together with the code for the end of a string are complete, and every byte is decoded
// correctly, by itself and among others.
func TestHuffman(t *testing.T) {
	sum := 0
	for _, l := range lengths {
		sum += 1 << (maxCode - l)
	}
	assert.Equal(t, "codes", sum, 1<<maxCode-1)
	assert.Equal(t, "www.example.com", hex.EncodeToString(squeeze("www.example.com")), "f1e3c2e5f23a6ba0ab90f4ff")
	rng := rand.New(rand.NewPCG(1, 2))
	for b := range 256 {
		for range 3 {
			s := make([]byte, rng.IntN(12), 16)
			for i := range s {
				s[i] = byte(rng.IntN(256))
			}
			s = append(s, byte(b))
			got, err := huffmanCode.decodeString(nil, squeeze(string(s)))
			assert.NoError(t, "expand", err)
			assert.Equal(t, "expanded", string(got), string(s))
		}
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	block := unhex(t, "88 7685 aec3771a4b 6196d07abe941054d444a8200595040b8166e082a62d1bff 0f0d 0132 400161 0162")
	for _, limit := range []int{0, 100, TableSize} {
		d, n := NewDecoder(limit), 0
		count := func(_, _ []byte) error { n++; return nil }
		decode := func() {
			if err := d.Decode(block, count); err != nil {
				t.Fatal(err)
			}
		}
		for range 400 { // until the table is full
			decode()
		}
		n = 0
		if per := testing.AllocsPerRun(100, decode); per != 0 {
			t.Errorf("%v allocations a block, table of %d bytes", per, limit)
		}
		assert.Equal(t, "fields", n, 5*101)
	}
}

// For any block, decoding ends without a panic, the table stays within its limit, and decoded
// fields are the same after they are encoded and decoded again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "4882 6402 5885 aec3 771a 4b61", "20 3f31 be bf", "3fe11f 400161 0162 be 7e0163", "ff80", "0f2f00", "400161 0162 c0",
		"1f8f0100", "0082 07ff 00",
	} {
		f.Add(unhex(f, s), uint16(TableSize))
		f.Add(unhex(f, s), uint16(0))
	}
	f.Fuzz(func(t *testing.T, block []byte, limit uint16) {
		d := NewDecoder(int(limit))
		for range 2 {
			var again []byte
			var want strings.Builder
			err := d.Decode(block, func(name, value []byte) error {
				again = AppendField(again, string(name), string(value))
				fmt.Fprintf(&want, "%s: %s\n", name, value)
				return nil
			})
			size := 0
			for _, e := range d.table.entries {
				size += e.tableSize()
			}
			held := 0
			for i := range d.table.entries {
				e := d.table.entries[i]
				held += e.name + e.value
				if i > 0 && d.table.entries[i-1].at+d.table.entries[i-1].name+d.table.entries[i-1].value != e.at {
					t.Fatalf("entries that are not in order: %v", d.table.entries)
				}
			}
			if held > len(d.table.bytes) || len(d.table.bytes) > 2*int(limit) {
				t.Fatalf("%d bytes of entries in %d, at most %d", held, len(d.table.bytes), limit)
			}
			if size != d.table.size || size > d.table.max || d.table.max > int(limit) {
				t.Fatalf("a table of %d bytes, counted %d, at most %d of %d", size, d.table.size, d.table.max, limit)
			}
			got, wrong := read(NewDecoder(0), again)
			if wrong != nil || got != want.String() {
				t.Fatalf("%q, %v, want %q", got, wrong, want.String())
			}
			if err != nil {
				return
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	d := NewDecoder(0)
	block := unhex(b, "88 7685 aec3771a4b 6196d07abe941054d444a8200595040b8166e082a62d1bff 0f0d 0132")
	none := func(_, _ []byte) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Decode(block, none); err != nil {
			b.Fatal(err)
		}
	}
}
