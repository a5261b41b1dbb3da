package load

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h2"
)

// These functions return what a server sends, as bytes.

func says(frames ...string) string { return string(h2.AppendSettings(nil)) + strings.Join(frames, "") }

func rawFrame(kind h2.Type, flags uint8, stream uint32, payload string) string {
	return string(h2.AppendFrame(nil, h2.Frame{Type: kind, Flags: flags, Stream: stream, Payload: []byte(payload)}))
}

// block returns a header block of the given lines "name: value".
func block(lines ...string) string {
	var b []byte
	for _, l := range lines {
		name, value, _ := strings.Cut(l[1:], ": ")
		b = h2.AppendField(b, l[:1]+name, value)
	}
	return string(b)
}

// headed returns the HEADERS frame of stream 1 of a response that goes on; ended returns one that
// ends the stream.
func headed(lines ...string) string { return rawFrame(h2.Headers, h2.EndHeaders, 1, block(lines...)) }

func ended(lines ...string) string {
	return rawFrame(h2.Headers, h2.EndHeaders|h2.EndStream, 1, block(lines...))
}

func piece(text string) string { return rawFrame(h2.Data, 0, 1, text) }
func last(text string) string  { return rawFrame(h2.Data, h2.EndStream, 1, text) }

const ok2 = ":status: 200"

// wants encodes a request for HTTP/2. The method is GET if r has none.
func wants(t testing.TB, p Protocol, r Request) *encodedRequest {
	t.Helper()
	if r.Method == "" {
		r.Method = "GET"
	}
	e, err := encodeRequests(Options{Target: Target{Addr: "a:1"}, Protocol: p, Requests: []Request{r}}, counters{})
	assert.NoError(t, "encode", err)
	return &e[0]
}

// asked returns a framer that has sent its first request.
func asked(t testing.TB, p Protocol, r Request) *http2 {
	t.Helper()
	h := newHTTP2(p == GRPC, 1, nil)
	h.open()
	h.takeOutput()
	assert.NoError(t, "ask", h.startRequest(wants(t, p, r), nil, false, true))
	h.takeOutput()
	return h
}

// listen feeds input to a framer in pieces that end at cuts, and then the end of the connection. It
// returns the outcome.
func listen(t testing.TB, p Protocol, r Request, input string, cuts ...int) outcome {
	t.Helper()
	h := asked(t, p, r)
	rest, from := []byte(input), 0
	for _, to := range append(cuts, len(rest)) {
		if to <= from {
			continue
		}
		part := bytes.Clone(rest[from:to])
		err := h.feed(part)
		for i := range part {
			part[i] = 'X'
		}
		if from = to; err != nil {
			return outcome{err: err.Error()}
		}
	}
	a := h.currentResponse()
	if !a.done {
		return outcome{err: h.closeError().Error()}
	}
	return outcome{status: a.status, body: string(a.stored), closes: a.closes}
}

// listenAnyhow requires the same outcome however the input is cut into pieces.
func listenAnyhow(t *testing.T, name string, p Protocol, r Request, input string) outcome {
	t.Helper()
	whole := listen(t, p, r, input)
	rng := rand.New(rand.NewPCG(1, uint64(len(input))))
	tries := 3
	if len(input) < 1000 {
		tries = 20
		var every []int
		for i := range input {
			every = append(every, i)
			assert.Equal(t, fmt.Sprintf("%s, cut at %d", name, i), listen(t, p, r, input, i), whole)
		}
		assert.Equal(t, name+", byte by byte", listen(t, p, r, input, every...), whole)
	}
	for range tries {
		var cuts []int
		for i := 0; i < len(input); i += 1 + rng.IntN(1+len(input)/3) {
			cuts = append(cuts, i)
		}
		assert.Equal(t, fmt.Sprintf("%s, cut at %v", name, cuts), listen(t, p, r, input, cuts...), whole)
	}
	return whole
}

func TestHTTP2Answers(t *testing.T) {
	long := strings.Repeat("x: y", 20000)
	big := block(ok2, "x-long: "+long)
	for name, c := range map[string]struct {
		input  string
		method string
		want   outcome
	}{
		"body":             {says(headed(ok2), last("abc")), "GET", outcome{status: 200, body: "abc"}},
		"in frames":        {says(headed(ok2, "content-length: 6"), piece("abc"), piece(""), piece("def"), last("")), "GET", outcome{status: 200, body: "abcdef"}},
		"no body":          {says(ended(":status: 404")), "GET", outcome{status: 404}},
		"HEAD":             {says(ended(ok2, "content-length: 77")), "HEAD", outcome{status: 200}},
		"HEAD, empty DATA": {says(headed(ok2, "content-length: 77"), last("")), "HEAD", outcome{status: 200}},
		"304":              {says(ended(":status: 304", "content-length: 77")), "GET", outcome{status: 304}},
		"trailers":         {says(headed(ok2), piece("abc"), ended("digest: x", "content-length: 9")), "GET", outcome{status: 200, body: "abc"}},
		"interim":          {says(headed(":status: 103", "content-length: 5"), headed(":status: 100"), headed(ok2), last("x")), "GET", outcome{status: 200, body: "x"}},
		"padding": {says(rawFrame(h2.Headers, h2.EndHeaders|h2.Padded|h2.HasPriority, 1, "\x03\x00\x00\x00\x00\x09"+block(ok2)+"ppp"), rawFrame(h2.Data, h2.Padded|h2.EndStream, 1, "\x02abXX")),
			"GET", outcome{status: 200, body: "ab"}},
		"continued": {says(rawFrame(h2.Headers, 0, 1, big[:100]), rawFrame(h2.Continuation, 0, 1, big[100:9000]), rawFrame(h2.Continuation, 0, 1, ""), rawFrame(h2.Continuation, 0, 1, big[9000:20000]),
			rawFrame(h2.Continuation, 0, 1, big[20000:36000]), rawFrame(h2.Continuation, 0, 1, big[36000:52000]), rawFrame(h2.Continuation, 0, 1, big[52000:68000]), rawFrame(h2.Continuation, h2.EndHeaders, 1, big[68000:]), last("a")),
			"GET", outcome{status: 200, body: "a"}},
		"other frames": {says(rawFrame(h2.Ping, 0, 0, "12345678"), headed(ok2), rawFrame(h2.Ping, h2.Ack, 0, "12345678"), rawFrame(h2.Priority, 0, 9, "12345"), rawFrame(99, 255, 77, "?"),
			string(h2.AppendWindowUpdate(nil, 0, 5)), string(h2.AppendWindowUpdate(nil, 1, 5)), rawFrame(h2.Settings, h2.Ack, 0, ""), last("a")), "GET", outcome{status: 200, body: "a"}},
		"behind the end": {says(headed(ok2), last("a"), string(h2.AppendWindowUpdate(nil, 1, 5)), string(h2.AppendReset(nil, 1, h2.NoError)), rawFrame(h2.Ping, 0, 0, "12345678")), "GET", outcome{status: 200, body: "a"}},
		"goes away":      {says(headed(ok2), string(h2.AppendGoAway(nil, 1, h2.NoError)), last("a")), "GET", outcome{status: 200, body: "a", closes: true}},
		"went away":      {says(headed(ok2), last("a"), string(h2.AppendGoAway(nil, 1, h2.NoError))), "GET", outcome{status: 200, body: "a", closes: true}},
		"will go away":   {says(string(h2.AppendGoAway(nil, h2.MaxStream, h2.NoError)), headed(ok2), last("a")), "GET", outcome{status: 200, body: "a", closes: true}},
		"no grpc here":   {says(headed(ok2), piece("a"), ended("grpc-status: what")), "GET", outcome{status: 200, body: "a"}},
	} {
		got := listenAnyhow(t, name, H2C, Request{Method: c.method}, c.input)
		assert.Equal(t, name, got, c.want)
	}
}

func TestHTTP2Refuses(t *testing.T) {
	hundred := strings.Repeat("x", 100)
	for input, want := range map[string]string{
		"":                            "without an answer",
		says():                        "without an answer",
		says(headed(ok2)):             "in the middle",
		says(headed(ok2), piece("a")): "in the middle",
		says(headed(":status: 100")):  "in the middle",

		"HTTP/1.1 400 Bad Request\r\n\r\n":                                                         "not HTTP/2",
		"SSH-2.0-nothing\r\n":                                                                      "not HTTP/2",
		rawFrame(h2.Ping, 0, 0, "12345678"):                                                        "not HTTP/2",
		rawFrame(h2.Settings, h2.Ack, 0, ""):                                                       "not HTTP/2",
		rawFrame(h2.Settings, 0, 1, ""):                                                            "not HTTP/2",
		says(rawFrame(h2.Settings, 0, 0, "ab")):                                                    "SETTINGS frame of 2 bytes",
		says(string(h2.AppendSettings(nil, h2.Setting{ID: h2.EnablePush, Value: 1}))):              "lets itself be pushed to",
		says(string(h2.AppendSettings(nil, h2.Setting{ID: h2.MaxFrameSize, Value: 100}))):          "size that cannot be",
		says(string(h2.AppendSettings(nil, h2.Setting{ID: h2.MaxFrameSize, Value: 1 << 24}))):      "size that cannot be",
		says(string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: 1 << 31}))): "larger than can be",
		says(string(h2.AppendWindowUpdate(nil, 0, 0))):                                             "WINDOW_UPDATE of nothing",
		says(string(h2.AppendWindowUpdate(nil, 1, 0))):                                             "WINDOW_UPDATE of nothing",
		says(string(h2.AppendWindowUpdate(nil, 0, h2.MaxWindow))):                                  "larger than can be",
		says(string(h2.AppendWindowUpdate(nil, 1, h2.MaxWindow))):                                  "larger than can be",
		says(string(h2.AppendWindowUpdate(nil, 3, 1))):                                             "was not opened",
		says(string(h2.AppendWindowUpdate(nil, 1, 1000)), string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: h2.MaxWindow}))): "larger than can be",

		says(rawFrame(h2.Headers, h2.EndHeaders, 3, block(ok2))):                        "was not opened",
		says(rawFrame(h2.Headers, h2.EndHeaders, 2, block(ok2))):                        "was not opened",
		says(rawFrame(h2.Data, 0, 3, "a")):                                              "was not opened",
		says(string(h2.AppendReset(nil, 5, h2.Cancel))):                                 "was not opened",
		says(rawFrame(h2.PushPromise, h2.EndHeaders, 1, "\x00\x00\x00\x02"+block(ok2))): "PUSH_PROMISE",
		says(piece("a")):                                                                  "DATA before a head",
		says(headed(":status: 100"), piece("a")):                                          "DATA before a head",
		says(headed(ok2), rawFrame(h2.Data, h2.Padded, 1, "\x05abc")):                     "more padding than frame",
		says(headed(ok2), last("a"), last("b")):                                           "behind the end",
		says(ended(ok2), ended(ok2)):                                                      "behind the end",
		says(ended(":status: 204"), piece("a")):                                           "behind the end",
		says(headed(":status: 204"), piece("a")):                                          "DATA of an answer that has none",
		says(headed(":status: 304"), piece("a")):                                          "DATA of an answer that has none",
		says(headed(ok2, "content-length: 2"), piece("abc")):                              "longer than its Content-Length",
		says(headed(ok2, "content-length: 2"), last("a")):                                 "shorter than its Content-Length",
		says(ended(ok2, "content-length: 2")):                                             "shorter than its Content-Length",
		says(headed(ok2, "content-length: 2"), piece("a"), ended("a: b")):                 "shorter than its Content-Length",
		says(ended(ok2, "content-length: 0", "content-length: 0")):                        "more than once",
		says(ended(ok2, "content-length: x")):                                             "no length",
		says(ended("a: b")):                                                               "without a status",
		says(ended(":status: 200", ":status: 200")):                                       "of its kind",
		says(ended(ok2, ":path: /")):                                                      "of its kind",
		says(ended("a: b", ok2)):                                                          "behind other fields",
		says(ended(":status: 20")):                                                        "three digits",
		says(ended(":status: 099")):                                                       "three digits",
		says(ended(":status: 2x0")):                                                       "three digits",
		says(headed(":status: 101")):                                                      "status 101",
		says(ended(":status: 103")):                                                       "interim answer that is the end",
		says(headed(ok2), headed(ok2)):                                                    "among trailers",
		says(headed(ok2), headed("a: b")):                                                 "not the end",
		says(headed(ok2), ended(ok2)):                                                     "among trailers",
		says(ended(ok2, "Upper: case")):                                                   "cannot be in one",
		says(ended(ok2, "a b: c")):                                                        "cannot be in one",
		says(ended(ok2, "a: b\rc")):                                                       "CR, LF or NUL",
		says(ended(ok2, "a: b\x00c")):                                                     "CR, LF or NUL",
		says(ended(ok2, "connection: close")):                                             "about the connection",
		says(ended(ok2, "transfer-encoding: chunked")):                                    "about the connection",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, "\xff")):                              "cut off",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, block(ok2)+"\xbe")):                   "an index of nothing",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, "\x3f\xe2\x1f"+block(ok2))):           "larger than was allowed",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, block(ok2)+"\x40\x01a\x01b\xbe\xbf")): "an index of nothing",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, block(ok2)+"\x20")):                   "behind fields",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, block(ok2)+"\x40\x01a\x7f\x81\x17"+strings.Repeat("x", 3072)+strings.Repeat("\xbe", 100))): "too long",
		says(rawFrame(h2.Headers, h2.EndHeaders, 1, block(ok2)+"\x00\x00\x00")):                                                                "without a name",
		says(rawFrame(h2.Continuation, h2.EndHeaders, 1, block(ok2))):                                                                          "CONTINUATION of nothing",
		says(rawFrame(h2.Headers, 0, 1, block(ok2)), piece("a")):                                                                               "in the middle of a head",
		says(rawFrame(h2.Headers, 0, 1, block(ok2)), rawFrame(h2.Ping, 0, 0, "12345678")):                                                      "in the middle of a head",
		says(rawFrame(h2.Headers, 0, 1, ""), rawFrame(h2.Continuation, 0, 3, "")):                                                              "in the middle of a head",
		says(rawFrame(h2.Headers, 0, 1, ""), strings.Repeat(rawFrame(h2.Continuation, 0, 1, ""), MaxHead/9)):                                   "too long",
		says(rawFrame(h2.Headers, 0, 1, ""), strings.Repeat(rawFrame(h2.Continuation, 0, 1, hundred), MaxHead/100)):                            "too long",
		says(strings.Repeat(headed(":status: 103", "a: "+hundred), MaxHead/100)):                                                               "too long",
		says(rawFrame(h2.Data, 0, 1, strings.Repeat("x", h2.MaxFrame+1))):                                                                      "a frame of 16385 bytes",
		says(strings.Repeat(rawFrame(h2.Ping, 0, 0, "12345678"), maxReplies/17+1)):                                                             "nothing but replies",
		says(strings.Repeat(rawFrame(h2.Settings, 0, 0, ""), maxReplies/9+1)):                                                                  "nothing but replies",
		says(headed(ok2), strings.Repeat(piece(strings.Repeat("x", 1<<14)), streamRoom>>14+1)):                                                 "more DATA than there was room for",

		says(string(h2.AppendReset(nil, 1, h2.RefusedStream))):            "reset the stream: REFUSED_STREAM",
		says(headed(ok2), string(h2.AppendReset(nil, 1, h2.Cancel))):      "reset the stream: CANCEL",
		says(headed(ok2), piece("a"), string(h2.AppendReset(nil, 1, 99))): "reset the stream: error code 99",
		says(string(h2.AppendGoAway(nil, 0, 11))):                         "left the request: ENHANCE_YOUR_CALM",
	} {
		o := listenAnyhow(t, fmt.Sprintf("%.60q", input), H2C, Request{}, input)
		if !strings.Contains(o.err, want) {
			t.Errorf("%.60q: %+v, want %q", input, o, want)
		}
	}
}

func TestGRPCAnswers(t *testing.T) {
	const ctype = "content-type: application/grpc"
	msg := "\x00\x00\x00\x00\x03abc"
	for name, c := range map[string]struct {
		input  string
		status int
		body   string
		err    string
	}{
		"message":       {input: says(headed(ok2, ctype), piece(msg), ended("grpc-status: 0")), status: 200, body: msg},
		"in pieces":     {input: says(headed(ok2, ctype), piece(msg[:3]), piece(msg[3:6]), piece(""), piece(msg[6:]), ended("grpc-status: 0", "grpc-message: ")), status: 200, body: msg},
		"empty message": {input: says(headed(ok2, ctype), piece("\x00\x00\x00\x00\x00"), ended("grpc-status: 0")), status: 200, body: "\x00\x00\x00\x00\x00"},
		"refused":       {input: says(ended(ok2, ctype, "grpc-status: 5", "grpc-message: none")), status: 404},
		"refused late":  {input: says(headed(ok2, ctype), ended("grpc-status: 16")), status: 401},
		"refused after": {input: says(headed(ok2, ctype), piece(msg), ended("grpc-status: 8")), status: 429, body: msg},
		"unknown code":  {input: says(ended(ok2, ctype, "grpc-status: 4711")), status: 500},
		"of HTTP":       {input: says(headed(":status: 503"), last("try later")), status: 503, body: "try later"},
		"a length":      {input: says(headed(ok2, "content-length: 8"), piece(msg), ended("grpc-status: 0")), status: 200, body: msg},

		"no trailers":      {input: says(headed(ok2, ctype), last(msg)), err: "no grpc-status"},
		"no status":        {input: says(headed(ok2, ctype), piece(msg), ended("grpc-message: x")), err: "no grpc-status"},
		"status too early": {input: says(headed(ok2, "grpc-status: 0"), last(msg)), err: "no grpc-status"},
		"status no number": {input: says(ended(ok2, "grpc-status: ok")), err: "no number"},
		"two statuses":     {input: says(ended(ok2, "grpc-status: 1", "grpc-status: 2")), err: "more than one"},
		"nothing":          {input: says(headed(ok2, ctype), ended("grpc-status: 0")), err: "without a message"},
		"compressed":       {input: says(headed(ok2, ctype), piece("\x01"+msg[1:])), err: "compressed"},
		"no prefix":        {input: says(headed(ok2, ctype), piece("{\"a\":1}")), err: "without a prefix"},
		"too short":        {input: says(headed(ok2, ctype), piece(msg[:7]), ended("grpc-status: 0")), err: "shorter than its prefix"},
		"half a prefix":    {input: says(headed(ok2, ctype), piece(msg[:3]), ended("grpc-status: 0")), err: "shorter than its prefix"},
		"too long":         {input: says(headed(ok2, ctype), piece(msg+"d"), ended("grpc-status: 0")), err: "more than one message"},
		"two messages":     {input: says(headed(ok2, ctype), piece(msg), piece(msg), ended("grpc-status: 0")), err: "more than one message"},
	} {
		got := listenAnyhow(t, name, GRPC, Request{Method: "POST", Body: []byte("q")}, c.input)
		if c.err != "" {
			if !strings.Contains(got.err, c.err) {
				t.Errorf("%s: %+v, want %q", name, got, c.err)
			}
			continue
		}
		assert.Equal(t, name, got, outcome{status: c.status, body: c.body})
	}
	for code, status := range []int{200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401, 500} {
		assert.Equal(t, fmt.Sprint("code ", code), httpStatus(code), status)
	}
}

// After the server has reset a stream, the next request opens a new stream on the same connection.
func TestHTTP2AfterReset(t *testing.T) {
	h := asked(t, H2C, Request{Method: "POST", Body: bytes.Repeat([]byte("b"), 100<<10)})
	err := h.feed([]byte(says(headed(ok2), string(h2.AppendReset(nil, 1, h2.Cancel)), rawFrame(h2.Ping, 0, 0, "12345678"))))
	var lost resetError
	assert.Equal(t, "a resetError", errors.As(err, &lost), true)
	a := h.currentResponse()
	assert.Equal(t, "closes", a.closes, false)
	assert.Equal(t, "unsent", a.unsent, false)
	assert.Equal(t, "replies", string(h.takeOutput()), rawFrame(h2.Settings, h2.Ack, 0, "")+rawFrame(h2.Ping, h2.Ack, 0, "12345678"))
	assert.NoError(t, "ask", h.startRequest(wants(t, H2C, Request{}), nil, false, true))
	frames := framesOf(t, h.takeOutput())
	assert.Equal(t, "stream", frames[0].Stream, 3)
	assert.NoError(t, "answer", h.feed([]byte(rawFrame(h2.Headers, h2.EndHeaders|h2.EndStream, 3, block(ok2)))))
	assert.Equal(t, "done", h.currentResponse().done, true)
	assert.ErrorContains(t, "an old stream", h.feedIdle([]byte(piece("a"))), "behind the end")
}

// framesOf splits output into frames.
func framesOf(t testing.TB, b []byte) []h2.Frame {
	t.Helper()
	var out []h2.Frame
	for b = bytes.Clone(b); len(b) > 0; {
		f, n, whole, err := new(h2.Reader).Next(b)
		if err != nil || !whole {
			t.Fatalf("%x is no frame: %v", b, err)
		}
		out, b = append(out, f), b[n:]
	}
	return out
}
