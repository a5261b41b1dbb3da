package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h3"
)

// section returns a HEADERS frame with fields given as name, value, name, value.
func section(fields ...string) []byte {
	b := h3.AppendSectionPrefix(nil)
	for i := 0; i < len(fields); i += 2 {
		b = h3.AppendField(b, fields[i], fields[i+1])
	}
	return h3.AppendFrame(nil, h3.Headers, b)
}

// dataFrame returns a DATA frame.
func dataFrame(text string) []byte { return h3.AppendFrame(nil, h3.Data, []byte(text)) }

// readAnswer feeds a response in parts of at most size bytes, and returns a description of the
// response and its body.
func readAnswer(h *responseHTTP3, input []byte, size int, bare bool) (string, error) {
	var body bytes.Buffer
	h.body = func(b []byte) bool { body.Write(b); return true }
	h.reset(bare, true)
	for len(input) > 0 {
		n := min(size, len(input))
		if err := h.feed(bytes.Clone(input[:n])); err != nil {
			return "", err
		}
		input = input[n:]
	}
	if err := h.checkEnd(); err != nil {
		return "", err
	}
	return fmt.Sprint(h.response.status, " ", h.response.body, " ", body.String()), nil
}

func TestAnswersOfHTTP3(t *testing.T) {
	ok, unknown := section(":status", "200", "content-length", "5"), h3.AppendFrame(nil, 0x21, []byte("abc"))
	h := new(responseHTTP3)
	for want, input := range map[string][]byte{
		"200 5 hello":                 bytes.Join([][]byte{section(":status", "103", "link", "x"), unknown, ok, dataFrame("he"), unknown, dataFrame("llo"), section("a", "b"), unknown}, nil),
		"204 0 ":                      section(":status", "204", "content-length", "9"),
		"200 0 ":                      section(":status", "200"),
		"HEAD 200 0 ":                 section(":status", "200", "content-length", "9"),
		"ends without a head":         nil,
		"DATA that does not follow":   dataFrame("x"),
		"a head without a status":     section("a", "b"),
		"status 101":                  section(":status", "101"),
		"shorter than its":            bytes.Join([][]byte{ok, dataFrame("hell")}, nil),
		"longer than its":             bytes.Join([][]byte{ok, dataFrame("hello!")}, nil),
		"ends within a frame":         ok[:len(ok)-1],
		"a head after trailers":       bytes.Join([][]byte{ok, dataFrame("hello"), section("a", "b"), section("a", "b")}, nil),
		"does not follow a head":      bytes.Join([][]byte{ok, section("a", "b"), dataFrame("hello")}, nil),
		"may not be in an answer":     bytes.Join([][]byte{ok, h3.AppendFrame(nil, h3.Settings, nil)}, nil),
		"the head of the answer is":   []byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff"),
		"about the connection":        section(":status", "200", "transfer-encoding", "chunked"),
		"a dynamic table":             []byte("\x01\x03\x02\x00\x80"),
		"of the answer is too long":   bytes.Repeat(section(":status", "103", "link", strings.Repeat("x", 1000)), MaxHead/1000),
		"field of the head among":     bytes.Join([][]byte{ok, section(":status", "200")}, nil),
		"frame that may not be in an": []byte("\x08\x00"),
	} {
		for _, size := range []int{1, 2, 7, 1000, 1 << 20} {
			want, bare := strings.CutPrefix(want, "HEAD ")
			got, err := readAnswer(h, input, size, bare)
			if err != nil {
				assert.ErrorContains(t, want, err, want)
			} else {
				assert.Equal(t, "answer", got, want)
			}
		}
	}
}

// Requests contain literal bytes where numbers are written, and are otherwise encoded with the
// static table.
func TestRequestsOfHTTP3(t *testing.T) {
	o := Options{Target: Target{Addr: "127.0.0.1:443", Host: "shop.example"}, Protocol: HTTP3}
	o.Requests = []Request{{Method: "PUT", Path: "/orders/00", Header: [][2]string{{"X-A", "b"}}, Body: []byte("number 0"),
		Fill: []Fill{{At: 8, Width: 2, Counter: "n", Step: true}, {Body: true, At: 7, Width: 1, Counter: "n"}}}}
	all, err := encodeRequests(o, counters{})
	assert.NoError(t, "encode", err)
	e := all[0]
	assert.NoError(t, "fill", e.writeNumbers(e.wire, e.wire[len(e.wire)-e.body:], []int64{7}))
	var fields strings.Builder
	d, r := new(h3.Decoder), new(h3.Reader)
	head, n, _ := r.Next(e.wire)
	err = d.Decode(head.Payload, func(name, value []byte) error {
		fmt.Fprintf(&fields, "%s=%s ", name, value)
		return nil
	})
	assert.NoError(t, "decode", err)
	assert.Equal(t, "head", fields.String(), ":method=PUT :scheme=http :authority=shop.example :path=/orders/07 x-a=b content-length=8 ")
	body, _, _ := r.Next(e.wire[n:])
	assert.Equal(t, "body", fmt.Sprintf("%d %s", body.Type, body.Payload), "0 number 7")
	o.Requests = []Request{{Method: "GET", Header: [][2]string{{"a", strings.Repeat("x", 20_000)}}}}
	_, err = encodeRequests(o, counters{})
	assert.ErrorContains(t, "a long head", err, "a head of 20")
	o.Requests[0].Header = [][2]string{{"Connection", "close"}}
	_, err = encodeRequests(o, counters{})
	assert.ErrorContains(t, "a field of HTTP/1.1", err, "header Connection: HTTP/2 and HTTP/3 have none")
}

// The result for a response does not depend on how its bytes are split into parts.
func FuzzAnswersOfHTTP3(f *testing.F) {
	f.Add(append(section(":status", "200", "content-length", "5"), dataFrame("hello")...), false, uint64(1))
	f.Add(append(section(":status", "103"), section(":status", "304", "content-length", "5")...), true, uint64(2))
	f.Add([]byte("\x01\x03\x02\x00\x80"), false, uint64(3))
	h := new(responseHTTP3)
	f.Fuzz(func(t *testing.T, input []byte, bare bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want, err := readAnswer(h, input, len(input)+1, bare)
		got, cut := readAnswer(h, input, 1+rng.IntN(40), bare)
		if want != got || fmt.Sprint(err) != fmt.Sprint(cut) {
			t.Fatalf("%x: %s, %v; in pieces %s, %v", input, want, err, got, cut)
		}
	})
}
