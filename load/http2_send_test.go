package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h2"
)

// heads decodes the header block of a request into lines "name: value".
func heads(t testing.TB, d *h2.Decoder, f h2.Frame) string {
	t.Helper()
	var b strings.Builder
	assert.NoError(t, "decode", d.Decode(f.Payload, func(name, value []byte) error {
		fmt.Fprintf(&b, "%s: %s\n", name, value)
		return nil
	}))
	return b.String()
}

func TestHTTP2Requests(t *testing.T) {
	for name, c := range map[string]struct {
		p    Protocol
		r    Request
		want string
		data string
	}{
		"get": {H2C, Request{Method: "GET", Path: "/a?b=c", Header: [][2]string{{"Accept", "x"}, {"Host", "h"}}},
			":method: GET\n:scheme: http\n:authority: h\n:path: /a?b=c\naccept: x\n", ""},
		"no path": {H2C, Request{Method: "GET"}, ":method: GET\n:scheme: http\n:path: /\n:authority: a:1\n", ""},
		"post": {H2C, Request{Method: "POST", Path: "/p", Body: []byte("body"), Header: [][2]string{{"content-type", "text/plain"}}},
			":method: POST\n:scheme: http\n:authority: a:1\n:path: /p\ncontent-type: text/plain\ncontent-length: 4\n", "body"},
		"empty post": {H2C, Request{Method: "POST", Path: "/p"}, ":method: POST\n:scheme: http\n:authority: a:1\n:path: /p\ncontent-length: 0\n", ""},
		"grpc": {GRPC, Request{Method: "POST", Path: "/s/m", Body: []byte("abc")},
			":method: POST\n:scheme: http\n:authority: a:1\n:path: /s/m\ncontent-type: application/grpc\nte: trailers\n", "\x00\x00\x00\x00\x03abc"},
		"grpc, own type": {GRPC, Request{Method: "POST", Path: "/s/m", Header: [][2]string{{"Content-Type", "application/grpc+json"}, {"TE", "trailers"}}},
			":method: POST\n:scheme: http\n:authority: a:1\n:path: /s/m\ncontent-type: application/grpc+json\nte: trailers\n", "\x00\x00\x00\x00\x00"},
	} {
		h, q, d := newHTTP2(c.p == GRPC, 1, nil), wants(t, c.p, c.r), h2.NewDecoder(h2.TableSize)
		assert.Equal(t, name+", body", q.body, len(c.r.Body))
		h.open()
		hello := h.takeOutput()
		assert.Equal(t, "preface", string(hello[:len(h2.Preface)]), h2.Preface)
		first := 0
		for i := range 3 {
			assert.NoError(t, name, h.startRequest(q, q.drawNumbers(nil), false, false))
			frames := framesOf(t, h.takeOutput())
			assert.Equal(t, name, heads(t, d, frames[0]), c.want)
			if i == 0 {
				first = len(frames[0].Payload)
			}
			assert.Equal(t, name+", said shorter the second time", len(frames[0].Payload) < first, i > 0)
			got := ""
			for _, f := range frames {
				assert.Equal(t, "stream", f.Stream, uint32(2*i+1))
				assert.Equal(t, "ends", f.Has(h2.EndStream), f.Type == frames[len(frames)-1].Type)
				if f.Type == h2.Data {
					got += string(f.Payload)
				}
			}
			assert.Equal(t, name+", DATA", got, c.data)
			assert.Equal(t, "nothing is left", len(h.takeOutput()), 0)
		}
	}
}

// A field with many different values, or with a value that changes, is not put into the header
// table; a field with few values is.
func TestHTTP2KeepsOutOfTheTable(t *testing.T) {
	post := Request{Method: "POST", Path: "/p", Body: []byte("body"), Header: [][2]string{{"x-a", "1"}}}
	filled := post
	filled.Path, filled.Fill = "/p/0000", []Fill{{At: 3, Width: 4, Counter: "n", Step: true}}
	var few, lots []Request
	for i := range maxValues + 1 {
		one := post
		one.Path = fmt.Sprint("/p/", i)
		lots = append(lots, one)
		if i < maxValues {
			few = append(few, one)
		}
	}
	for name, c := range map[string]struct {
		list  []Request
		bytes int // of a block in the end: three indexes of the static table or the dynamic one, a length, and what there is of the path
	}{
		"few paths": {few, 5 + 4}, "many paths": {lots, 4 + 4 + 2 + len("/p/16")}, "numbered": {[]Request{filled}, 4 + 4 + 2 + len("/p/0000")},
	} {
		all, err := encodeRequests(Options{Target: Target{Addr: "a:1"}, Protocol: H2C, Requests: c.list}, counters{})
		assert.NoError(t, name, err)
		h, d := newHTTP2(false, 1, nil), h2.NewDecoder(h2.TableSize)
		h.open()
		h.takeOutput()
		for i := range 3 * len(all) {
			assert.NoError(t, name, h.startRequest(&all[i%len(all)], all[i%len(all)].drawNumbers(nil), false, false))
			f := framesOf(t, h.takeOutput())[0]
			path := c.list[i%len(all)].Path
			if name == "numbered" {
				path = fmt.Sprintf("/p/%04d", i)
			}
			assert.Contains(t, name, heads(t, d, f), ":path: "+path+"\n")
			if i == 3*len(all)-1 {
				assert.Equal(t, name+", bytes", len(f.Payload), c.bytes)
			}
		}
	}
}

// If the server asks for a smaller header table, or for none, the next header block begins with the
// new size, also if the server asks only after some requests.
func TestHTTP2KeepsToTheServersTable(t *testing.T) {
	q := wants(t, GRPC, Request{Method: "POST", Path: "/s/m", Body: []byte("abc")})
	for _, size := range []uint32{0, 60, 4095, 4096, 1 << 20} {
		h, d := newHTTP2(true, 1, nil), h2.NewDecoder(h2.TableSize)
		h.open()
		h.takeOutput()
		for i := range 4 {
			if i == 2 {
				assert.NoError(t, "settings", h.feed(h2.AppendSettings(nil, h2.Setting{ID: h2.HeaderTableSize, Value: size})))
				assert.Equal(t, "acknowledged", framesOf(t, h.takeOutput())[0].Has(h2.Ack), true)
			}
			assert.NoError(t, "ask", h.startRequest(q, q.drawNumbers(nil), false, false))
			f := framesOf(t, h.takeOutput())[0]
			assert.Equal(t, "size said", f.Payload[0]&0xe0 == 0x20, i == 2 && size < h2.TableSize)
			assert.Contains(t, "head", heads(t, d, f), "te: trailers\n")
		}
	}
}

func TestHTTP2RequestsRefused(t *testing.T) {
	for want, r := range map[string]Request{
		"header Connection: HTTP/2 and HTTP/3 have none": {Method: "GET", Header: [][2]string{{"Connection", "close"}}},
		"header Upgrade: HTTP/2 and HTTP/3 have none":    {Method: "GET", Header: [][2]string{{"Upgrade", "x"}}},
		"header TE: HTTP/2 and HTTP/3 have none":         {Method: "GET", Header: [][2]string{{"TE", "gzip"}}},
		"bodies are sent with Content-Leng":              {Method: "GET", Header: [][2]string{{"Transfer-Encoding", "chunked"}}},
		"a head of":                                      {Method: "GET", Header: [][2]string{{"a", strings.Repeat("x", 1<<14)}}},
		"does not begin with /":                          {Method: "GET", Path: "x"},
	} {
		_, err := Open(Options{Target: Target{Addr: "127.0.0.1:1"}, Protocol: H2C, Requests: []Request{r}})
		assert.ErrorContains(t, want, err, want)
	}
}

// window is the server's view of flow control: what is left of the windows of the connection and of
// the stream, and the part of the body that has arrived.
type window struct {
	t            *testing.T
	conn, stream int64
	got          []byte
	ended        bool
}

func (w *window) take(b []byte) {
	for _, f := range framesOf(w.t, b) {
		if f.Type != h2.Data {
			continue
		}
		w.conn, w.stream = w.conn-int64(len(f.Payload)), w.stream-int64(len(f.Payload))
		if w.conn < 0 || w.stream < 0 || w.ended {
			w.t.Fatalf("a window of %d, of the stream %d, ended %v", w.conn, w.stream, w.ended)
		}
		w.got, w.ended = append(w.got, f.Payload...), f.Has(h2.EndStream)
	}
}

// However small the windows are, the complete body is sent within them, and its stream is ended
// once.
func TestHTTP2KeepsToWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	body := make([]byte, 300_000)
	for i := range body {
		body[i] = byte(rng.IntN(256))
	}
	for range 20 {
		h := newHTTP2(false, 1, nil)
		h.open()
		h.takeOutput()
		w := &window{t: t, conn: h2.Window, stream: h2.Window}
		initial := int64(h2.Window)
		assert.NoError(t, "ask", h.startRequest(wants(t, H2C, Request{Method: "POST", Body: body}), nil, false, false))
		hello := says()
		for range 100_000 {
			for b := h.takeOutput(); len(b) > 0; b = h.takeOutput() {
				w.take(b)
			}
			if w.ended {
				break
			}
			assert.Equal(t, "unsent", len(h.calls[0].content) > 0, true)
			n := 1 + rng.Int64N(40_000)
			var b []byte
			switch rng.IntN(4) {
			case 0, 1:
				b, w.stream = h2.AppendWindowUpdate(nil, 1, uint32(n)), w.stream+n
			case 2:
				b, w.conn = h2.AppendWindowUpdate(nil, 0, uint32(n)), w.conn+n
			case 3: // less than before may leave the stream in debt
				b = h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: uint32(n)})
				w.stream, initial = w.stream+n-initial, n
			}
			assert.NoError(t, "feed", h.feed(append([]byte(hello), b...)))
			hello = ""
		}
		assert.Equal(t, "ended", w.ended, true)
		assert.Equal(t, "the body", bytes.Equal(w.got, body), true)
	}
}

// Window updates for the stream and for the connection are sent before the server runs out of room,
// and never for more than was agreed.
func TestHTTP2GivesRoom(t *testing.T) {
	h := asked(t, H2C, Request{})
	room := map[uint32]int64{0: connRoom, 1: streamRoom}
	assert.NoError(t, "head", h.feed([]byte(says(headed(ok2)))))
	part := []byte(rawFrame(h2.Data, h2.Padded, 1, "\x10"+strings.Repeat("x", 8000)+strings.Repeat("\x00", 16)))
	for range 2 * connRoom / 8000 {
		for id := range room {
			room[id] -= 8017
			if room[id] < 0 {
				t.Fatalf("stream %d has no room left", id)
			}
		}
		assert.NoError(t, "feed", h.feed(part))
		for _, f := range framesOf(t, h.takeOutput()) {
			if f.Type == h2.WindowUpdate {
				room[f.Stream] += int64(f.Number(0))
			}
		}
	}
	assert.Equal(t, "body", h.currentResponse().body, 2*connRoom/8000*8000)
	if room[0] > connRoom || room[1] > streamRoom {
		t.Errorf("more room than was settled: %v", room)
	}
}

// A connection is closed when it has no stream number left.
func TestHTTP2StreamsRunOut(t *testing.T) {
	h, q := newHTTP2(false, 1, nil), wants(t, H2C, Request{})
	h.open()
	assert.NoError(t, "hello", h.feed([]byte(says())))
	h.stream = h2.MaxStream - 4
	for _, closes := range []bool{false, true} {
		assert.NoError(t, "ask", h.startRequest(q, q.drawNumbers(nil), false, false))
		b := h2.AppendFrame(nil, h2.Frame{Type: h2.Headers, Flags: h2.EndHeaders | h2.EndStream, Stream: h.stream, Payload: []byte(block(ok2))})
		assert.NoError(t, "answer", h.feed(b))
		assert.Equal(t, fmt.Sprintf("closes after stream %d", h.stream), h.currentResponse().closes, closes)
	}
	h.open()
	assert.Equal(t, "closes", h.currentResponse().closes, false)
	h.takeOutput()
	assert.NoError(t, "ask", h.startRequest(q, q.drawNumbers(nil), false, false))
	assert.Equal(t, "stream", framesOf(t, h.takeOutput())[0].Stream, 1)
}

func TestHTTP2AllocatesNothing(t *testing.T) {
	h, q := newHTTP2(true, 1, nil), wants(t, GRPC, Request{Method: "POST", Path: "/s/m", Body: []byte("number 0000"), Fill: []Fill{{Body: true, At: 7, Width: 4, Counter: "n", Step: true}}})
	h.open()
	h.takeOutput()
	hello, head := []byte(says()), block(ok2, "content-type: application/grpc", "x-request-id: 0123456789abcdef")
	answerTo := func(stream uint32) []byte {
		b := h2.AppendFrame(nil, h2.Frame{Type: h2.Headers, Flags: h2.EndHeaders, Stream: stream, Payload: []byte(head)})
		b = h2.AppendFrame(b, h2.Frame{Type: h2.Data, Stream: stream, Payload: []byte("\x00\x00\x00\x00\x02ok")})
		return h2.AppendFrame(b, h2.Frame{Type: h2.Headers, Flags: h2.EndHeaders | h2.EndStream, Stream: stream, Payload: []byte(block("grpc-status: 0"))})
	}
	assert.NoError(t, "hello", h.feed(hello))
	var answers [][]byte
	for i := range 102 {
		answers = append(answers, answerTo(uint32(2*i+1)))
	}
	i, numbers := 0, make([]int64, 0, 1)
	if n := testing.AllocsPerRun(100, func() {
		if err := h.startRequest(q, q.drawNumbers(numbers), false, false); err != nil {
			t.Fatal(err)
		}
		if len(h.takeOutput()) == 0 {
			t.Fatal("nothing to send")
		}
		for _, part := range [][]byte{answers[i][:20], answers[i][20:]} {
			if err := h.feed(part); err != nil {
				t.Fatal(err)
			}
		}
		if i++; !h.currentResponse().done {
			t.Fatal("not done")
		}
	}); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

// Whatever a server says, the framer takes it in the same way however it is cut,
// and ends with an answer or a reason.
func FuzzHTTP2(f *testing.F) {
	for _, s := range []string{
		says(headed(ok2, "content-length: 3"), last("abc")), says(headed(ok2), piece("\x00\x00\x00\x00\x01a"), ended("grpc-status: 0")),
		says(headed(":status: 103"), ended(":status: 204")), says(string(h2.AppendReset(nil, 1, h2.Cancel))), says(string(h2.AppendGoAway(nil, 0, h2.NoError))),
		says(rawFrame(h2.Headers, 0, 1, block(ok2)), rawFrame(h2.Continuation, h2.EndHeaders, 1, block("a: b")), rawFrame(h2.Data, h2.Padded|h2.EndStream, 1, "\x01ab")),
		says(string(h2.AppendWindowUpdate(nil, 1, 7)), rawFrame(h2.Ping, 0, 0, "12345678"), rawFrame(h2.Headers, h2.EndHeaders|h2.EndStream, 1, "\x88\x5f\x87\x49\x7c\xa5\x8a\xe8\x19\xaa")),
		says(string(h2.AppendGoAway(nil, 0, h2.NoError)), "no frame at all"), "HTTP/1.1 200 OK\r\n\r\n",
	} {
		f.Add(s, uint64(3), false)
		f.Add(s, uint64(0), true)
	}
	f.Fuzz(func(t *testing.T, input string, seed uint64, grpc bool) {
		p, r := H2C, Request{Method: "POST", Body: []byte("abc")}
		if grpc {
			p = GRPC
		}
		whole := listen(t, p, r, input)
		rng := rand.New(rand.NewPCG(seed, 1))
		var cuts []int
		for at := 0; at < len(input); at += 1 + rng.IntN(1+int(seed%64)) {
			cuts = append(cuts, at)
		}
		if cut := listen(t, p, r, input, cuts...); cut != whole {
			t.Fatalf("%q cut at %v: %+v, whole: %+v", input, cuts, cut, whole)
		}
		if whole.err == "" && (whole.status < 200 || whole.status > 999) {
			t.Fatalf("%q: %+v", input, whole)
		}
		h := asked(t, p, r)
		_ = h.feed([]byte(input))
		for b := h.takeOutput(); len(b) > 0; b = h.takeOutput() {
			framesOf(t, b)
		}
	})
}
