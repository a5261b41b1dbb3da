package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// outcome is the result of a framer for the bytes of one connection.
type outcome struct {
	status int
	body   string
	closes bool
	used   int
	err    string
}

// frame feeds input in parts that end at cuts, and then the end of the connection.
func frame(input string, bare bool, cuts ...int) outcome {
	o := frameWith(new(http1Parser), input, bare, cuts...)
	// A second time with what the first has taught: nothing may change.
	taught := &http1Parser{known: new(knownHead)}
	for range 2 {
		if again := frameWith(taught, input, bare, cuts...); again != o {
			return outcome{err: fmt.Sprintf("%+v, with a known head %+v", o, again)}
		}
	}
	if other := frameWith(taught, input, !bare, cuts...); other != frameWith(new(http1Parser), input, !bare, cuts...) {
		return outcome{err: fmt.Sprintf("%+v with the head of another method", other)}
	}
	return o
}

func frameWith(f *http1Parser, input string, bare bool, cuts ...int) outcome {
	f.reset(bare, true)
	var o outcome
	rest, from := []byte(input), 0
	for _, to := range append(cuts, len(rest)) {
		if to <= from {
			continue
		}
		// A copy of its own, wiped afterwards: nothing may point into what was
		// fed.
		piece := bytes.Clone(rest[from:to])
		n, err := f.feed(piece)
		for i := range piece {
			piece[i] = 'X'
		}
		if o.used += n; err != nil {
			return outcome{err: err.Error()}
		}
		if from = to; f.isDone() {
			break
		}
		if n != len(piece) {
			return outcome{err: fmt.Sprintf("took %d of %d bytes and is not done", n, len(piece))}
		}
	}
	if !f.isDone() {
		if err := f.closeError(); err != nil {
			return outcome{err: err.Error()}
		}
	}
	o.status, o.body, o.closes = f.status, string(f.stored.body), f.closes
	if int64(len(o.body)) != f.body {
		o.err = fmt.Sprintf("counted %d bytes of a body of %d", f.body, len(o.body))
	}
	return o
}

const ok = "HTTP/1.1 200 OK\r\n"

func TestFrame(t *testing.T) {
	for name, c := range map[string]struct {
		input  string
		head   bool
		status int
		body   string
		closes bool
		rest   string // what follows the answer
	}{
		"length":                 {input: ok + "Content-Length: 3\r\n\r\nabc", status: 200, body: "abc"},
		"length in odd letters":  {input: ok + "cOnTeNt-LeNgTh:\t 3 \r\n\r\nabc", status: 200, body: "abc"},
		"no bytes":               {input: ok + "Content-Length: 0\r\n\r\n", status: 200},
		"something follows":      {input: ok + "Content-Length: 1\r\n\r\nabc", status: 200, body: "a", rest: "bc"},
		"no words":               {input: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", status: 404},
		"other statuses":         {input: "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", status: 999},
		"chunks":                 {input: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0a\r\n0123456789\r\n0\r\n\r\n", status: 200, body: "abc0123456789"},
		"extensions":             {input: ok + "Transfer-Encoding: Chunked\r\n\r\n2;a=b\r\nab\r\n1 ; x=\"y\"\r\nc\r\n000;z\r\n\r\n", status: 200, body: "abc"},
		"trailers":               {input: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\nDigest: x\r\nContent-Length: 7\r\n\r\nnext", status: 200, body: "A", rest: "next"},
		"chunk in lines":         {input: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\n\r\n0\r\n\r\n0\r\n\r\n", status: 200, body: "\r\n0\r\n"},
		"interim":                {input: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", status: 200, body: "x"},
		"interim with a length":  {input: "HTTP/1.1 103 Early\r\nContent-Length: 9\r\nConnection: close\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", status: 200, body: "x"},
		"204":                    {input: "HTTP/1.1 204 No Content\r\n\r\n" + ok, status: 204, rest: ok},
		"204 with a length":      {input: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nrest", status: 204, rest: "rest"},
		"304 with a length":      {input: "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", status: 304},
		"HEAD":                   {input: ok + "Content-Length: 500\r\n\r\n", head: true, status: 200},
		"HEAD in chunks":         {input: ok + "Transfer-Encoding: chunked\r\n\r\n", head: true, status: 200},
		"until the end":          {input: ok + "\r\nall of it", status: 200, body: "all of it", closes: true},
		"nothing until the end":  {input: ok + "\r\n", status: 200, closes: true},
		"close":                  {input: ok + "Connection: foo, Close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", closes: true},
		"close once more":        {input: ok + "Connection: foo\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", closes: true},
		"not quite close":        {input: ok + "Connection: closed\r\nX-Connection: close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},
		"HTTP/1.0":               {input: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", closes: true},
		"HTTP/1.0 that stays":    {input: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"},
		"fields of no name's":    {input: ok + "A:\r\nb:  \r\nC: :\r\nContent-Length: 0\r\n\r\n", status: 200},
		"100 kB of fields":       {input: ok + strings.Repeat("X-Pad: "+strings.Repeat("y", 1000)+"\r\n", 110) + "Content-Length: 2\r\n\r\nhi", status: 200, body: "hi"},
		"one field of 100 kB":    {input: ok + "X-Pad: " + strings.Repeat("y", 110<<10) + "\r\nContent-Length: 2\r\n\r\nhi", status: 200, body: "hi"},
		"bytes beyond seven bit": {input: ok + "X: \xe9\xff\r\nContent-Length: 0\r\n\r\n", status: 200},
	} {
		want := outcome{status: c.status, body: c.body, closes: c.closes, used: len(c.input) - len(c.rest)}
		assert.Equal(t, name, frame(c.input, c.head), want)
		cutUp(t, name, c.input, c.head, want)
	}
}

// cutUp requires the same outcome for single bytes, for any two parts, and for random parts.
func cutUp(t *testing.T, name, input string, head bool, want outcome) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(input))))
	var every []int
	for i := range input {
		every = append(every, i)
	}
	tries := 3
	if len(input) < 1000 {
		tries = 20
		assert.Equal(t, name+", byte by byte", frame(input, head, every...), want)
		for i := range input {
			assert.Equal(t, fmt.Sprintf("%s, cut at %d", name, i), frame(input, head, i), want)
		}
	}
	for range tries {
		var cuts []int
		for i := 0; i < len(input); i += 1 + rng.IntN(1+len(input)/3) {
			cuts = append(cuts, i)
		}
		assert.Equal(t, fmt.Sprintf("%s, cut at %v", name, cuts), frame(input, head, cuts...), want)
	}
}

func TestFrameRefuses(t *testing.T) {
	chunked := ok + "Transfer-Encoding: chunked\r\n\r\n"
	for input, want := range map[string]string{
		"":                                  "without an answer",
		"H":                                 "in the middle",
		ok:                                  "in the middle",
		ok + "Conte":                        "in the middle",
		ok + "Content-Length: 5\r\n\r\nabc": "in the middle",
		chunked + "5\r\nabc":                "in the middle",
		chunked + "1\r\na\r\n0\r\n":         "in the middle",

		"ICY 200 OK\r\n\r\n":          "not HTTP/1.0 or 1.1",
		"SSH-2.0":                     "not HTTP/1.0 or 1.1",
		"http/1.1 200 OK\r\n":         "not HTTP/1.0 or 1.1",
		"HTTP/2.0 200 OK\r\n":         "not HTTP/1.0 or 1.1",
		"HTTP/1.2 200 OK\r\n":         "not HTTP/1.0 or 1.1",
		"\r\n" + ok:                   "not HTTP/1.0 or 1.1",
		"HTTP/1.1\r\n":                "not HTTP/1.0 or 1.1",
		"HTTP/1.1 20\r\n\r\n":         "three digits",
		"HTTP/1.1 2000 OK\r\n":        "three digits",
		"HTTP/1.1 2x0 OK\r\n":         "no number",
		"HTTP/1.1  20 OK\r\n":         "no number",
		"HTTP/1.1 099 OK\r\n":         "below 100",
		"HTTP/1.1 101 Switch\r\n\r\n": "another protocol",

		"HTTP/1.1 200 OK\n":                    "without CR",
		ok + "\n":                              "without CR",
		ok + "A: b\nContent-Length: 0\r\n\r\n": "without CR",
		ok + "A: b\rc\r\n":                     "CR or NUL",
		ok + "A: b\x00c\r\n":                   "CR or NUL",
		ok + " A: b\r\n":                       "folded",
		ok + "A: b\r\n\tc\r\n":                 "folded",
		ok + "A : b\r\n":                       "cannot be in one",
		ok + "A\xff: b\r\n":                    "cannot be in one",
		ok + ": b\r\n":                         "without a name",
		ok + "nothing\r\n":                     "without a name",
		ok + "Content-Length: 5\r\nContent-Length: 5": "in the middle",

		ok + "Content-Length: 5\r\nContent-Length: 6\r\n":                   "more than once",
		ok + "Content-Length: 5\r\nContent-Length: 5\r\n":                   "more than once",
		ok + "Content-Length: 5, 5\r\n":                                     "no length",
		ok + "Content-Length: +5\r\n":                                       "no length",
		ok + "Content-Length: -1\r\n":                                       "no length",
		ok + "Content-Length: 0x5\r\n":                                      "no length",
		ok + "Content-Length:\r\n":                                          "no length",
		ok + "Content-Length: 9999999999999999999\r\n":                      "no length",
		ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n":      "both",
		ok + "Transfer-Encoding: gzip, chunked\r\n":                         "other than chunked",
		ok + "Transfer-Encoding: identity\r\n":                              "other than chunked",
		ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n": "other than chunked",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":             "HTTP/1.0",

		chunked + "\r\n":                 "without a size",
		chunked + ";a\r\n":               "without a size",
		chunked + "1000000000000000\r\n": "without a size",
		chunked + "g\r\n":                "no number",
		chunked + " 1\r\n":               "no number",
		chunked + "-1\r\n":               "no number",
		chunked + "1\nA":                 "without CR",
		chunked + "1\r\nABC":             "longer than announced",
		chunked + "1\r\nA\rB":            "longer than announced",
		chunked + "0\r\n folded\r\n":     "folded",
		chunked + "0\r\nwhat\r\n":        "without a name",
		chunked + "1;" + strings.Repeat("x", maxChunk) + "\r\n":     "too long",
		chunked + "1;" + strings.Repeat("x", maxChunk):              "too long",
		ok + "A: " + strings.Repeat("x", MaxHead):                   "too long",
		ok + strings.Repeat("A: b\r\n", MaxHead/6):                  "too long",
		chunked + "0\r\n" + strings.Repeat("A: b\r\n", MaxHead/6+1): "too long",
		strings.Repeat("HTTP/1.1 100 Go on\r\n\r\n", MaxHead/22+1):  "too long",
	} {
		o := frame(input, false)
		if !strings.Contains(o.err, want) || want == "" {
			t.Errorf("%.60q: %+v, want %q", input, o, want)
			continue
		}
		cutUp(t, fmt.Sprintf("%.60q", input), input, false, o)
	}
}

// After reset, a framer does not depend on the input before.
func TestFrameAfterFrame(t *testing.T) {
	f := new(http1Parser)
	f.reset(false, false)
	for i := range 3 {
		in := fmt.Sprintf("HTTP/1.1 20%d OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\nB: c\r\n\r\n", i)
		for _, piece := range []string{in[:30], in[30:60], in[60:]} {
			if _, err := f.feed([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		if !f.isDone() || f.status != 200+i || f.body != 1 || len(f.stored.body) != 0 {
			t.Fatalf("answer %d: %+v", i, f)
		}
		f.reset(false, false)
	}
}

func TestFrameAllocatesNothing(t *testing.T) {
	f := &http1Parser{known: new(knownHead)}
	in := []byte(ok + "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
	if n := testing.AllocsPerRun(100, func() {
		f.reset(false, false)
		if _, err := f.feed(in); err != nil || !f.isDone() {
			t.Fatal(err)
		}
		f.reset(false, false)
		if _, err := f.feed(in[:20]); err != nil {
			t.Fatal(err)
		}
		if _, err := f.feed(in[20:]); err != nil || !f.isDone() {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an answer", n)
	}
}

func TestTokens(t *testing.T) {
	for c := range 256 {
		want := c < 128 && strings.ContainsRune("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", rune(c))
		if isToken(byte(c)) != want {
			t.Errorf("%q: %v", rune(c), !want)
		}
	}
}

// std returns the outcome of net/http for the same bytes. accepted is false if net/http rejects
// them.
func std(input string, head bool) (o outcome, accepted bool) {
	method := "GET"
	if head {
		method = "HEAD"
	}
	in := strings.NewReader(input)
	r := bufio.NewReader(in)
	for {
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return o, false
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return o, false
		}
		if res.StatusCode >= 200 {
			return outcome{status: res.StatusCode, body: string(body), closes: res.Close, used: len(input) - in.Len() - r.Buffered()}, true
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		ok + "Content-Length: 3\r\n\r\nabc", ok + "Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\nmore", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nrest",
		ok + "Connection: close, x\r\nContent-Length: 0\r\n\r\n", ok + " folded\r\n\r\n", "HTTP/1.1 304\r\nContent-Length: 7\r\n\r\n",
	} {
		f.Add(s, uint64(3), false)
		f.Add(s, uint64(0), true)
	}
	f.Fuzz(func(t *testing.T, input string, seed uint64, head bool) {
		whole := frame(input, head)
		rng := rand.New(rand.NewPCG(seed, 1))
		var cuts []int
		for at := 0; at < len(input); at += rng.IntN(1+int(seed%64)) + int(seed+1)%2 {
			if cuts = append(cuts, at); len(cuts) > 10*len(input) {
				break
			}
		}
		if cut := frame(input, head, cuts...); cut != whole {
			t.Fatalf("%q cut at %v: %+v, whole: %+v", input, cuts, cut, whole)
		}
		want, accepted := std(input, head)
		if whole.err != "" || !accepted {
			return
		}
		if whole.status != want.status || whole.body != want.body || !whole.closes && whole.used != want.used {
			t.Fatalf("%q: %+v, net/http: %+v", input, whole, want)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	in := []byte(ok + "Server: x\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\nHello, world!")
	for name, f := range map[string]*http1Parser{"read": {}, "known": {known: new(knownHead)}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.reset(false, false)
				if _, err := f.feed(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
