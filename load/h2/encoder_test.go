package h2

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// write returns a block with the fields of list, in order.
func write(e *Encoder, l *Fields, list ...[2]string) []byte {
	b := e.Begin(nil)
	for _, f := range list {
		b = e.Append(b, l.Ready(f[0], f[1]))
	}
	return b
}

func lines(list ...[2]string) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
	}
	return b.String()
}

// Five methods one after another: each field is a literal once, and one byte from then on.
func TestEncoderSaysOnce(t *testing.T) {
	var l Fields
	var e Encoder
	e.Reset()
	d := NewDecoder(TableSize)
	for round := range 3 {
		for method := range 5 {
			list := [][2]string{{":authority", "127.0.0.1:8080"}, {":path", fmt.Sprintf("/tare.users.v1.UserService/%dUser", method)}, {"content-type", "application/grpc"}, {"te", "trailers"}}
			b := write(&e, &l, list...)
			got, err := read(d, b)
			assert.NoError(t, "decode", err)
			assert.Equal(t, "fields", got, lines(list...))
			if round > 0 {
				assert.Equal(t, "bytes", len(b), len(list))
			}
		}
	}
	e.Reset()
	d.Reset()
	b := write(&e, &l, [2]string{"te", "trailers"})
	got, err := read(d, b)
	assert.NoError(t, "decode", err)
	assert.Equal(t, "a new connection", got, "te: trailers\n")
}

// The encoder respects the sizes that the peer allows, and announces them at the start of a block:
// the smallest since the last block, and the current one.
func TestEncoderSizes(t *testing.T) {
	var l Fields
	var e Encoder
	e.Reset()
	field := [2]string{"abcd", "efgh"} // 40 bytes
	assert.Equal(t, "the usual size", fmt.Sprintf("%x", write(&e, &l, field)), "40046162636404"+"65666768")
	assert.Equal(t, "its index", fmt.Sprintf("%x", write(&e, &l, field)), "be")
	for _, c := range []struct {
		allow []uint32
		want  string
	}{
		{[]uint32{TableSize}, "be"},
		{[]uint32{1 << 31}, "be"},
		{[]uint32{40}, "3f09be"},
		{nil, "be"},
		{[]uint32{39}, "3f08" + "0004616263640465666768"},
		{nil, "0004616263640465666768"},
		{[]uint32{1 << 20}, "3fe11f" + "4004616263640465666768"},
		{[]uint32{0, TableSize}, "20" + "3fe11f" + "4004616263640465666768"},
		{[]uint32{50, 0, 60, 40}, "20" + "3f09" + "4004616263640465666768"},
		{[]uint32{0}, "20" + "0004616263640465666768"},
	} {
		for _, size := range c.allow {
			e.Allow(size)
		}
		assert.Equal(t, fmt.Sprint(c.allow), fmt.Sprintf("%x", write(&e, &l, field)), c.want)
	}
	e.Reset()
	assert.Equal(t, "a new connection", fmt.Sprintf("%x", write(&e, &l, field)), "4004616263640465666768")
}

// For any order of fields and any allowed sizes, the decoder reads the written fields, and both
// sides have the same table.
func FuzzEncoder(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 200, 0, 1, 2, 3}, uint16(100))
	f.Add([]byte{9, 9, 255, 9, 250, 9, 240, 9, 0, 19, 29, 39, 49, 59, 69, 79, 89, 99}, uint16(0))
	f.Fuzz(func(t *testing.T, script []byte, first uint16) {
		var l Fields
		var e Encoder
		e.Reset()
		d := NewDecoder(TableSize)
		allow := func(size uint32) {
			e.Allow(size)
			d.limit = int(min(size, TableSize))
		}
		allow(uint32(first))
		for at := 0; at < len(script); {
			var list [][2]string
			for ; at < len(script); at++ {
				c := int(script[at])
				if c >= 240 {
					at++
					break
				}
				if c >= 200 { // the least in between is not the last
					least := uint32(c-200) * 60
					allow(least)
					allow(least + uint32(at)*20)
					d.limit = int(min(max(least, least+uint32(at)*20), TableSize))
					break
				}
				list = append(list, [2]string{fmt.Sprint("name-", c%10), strings.Repeat("v", c*c/10)})
			}
			if at < len(script) && script[at] >= 200 && script[at] < 240 {
				at++
			}
			got, err := read(d, write(&e, &l, list...))
			if err != nil || got != lines(list...) {
				t.Fatalf("%q, %v, want %q", got, err, lines(list...))
			}
			if d.table.max != e.max || d.table.size != e.size || len(d.table.entries) != len(e.queue) || d.table.max > d.limit {
				t.Fatalf("tables of %d of %d bytes in %d, and %d of %d in %d; allowed are %d",
					e.size, e.max, len(e.queue), d.table.size, d.table.max, len(d.table.entries), d.limit)
			}
		}
	})
}
