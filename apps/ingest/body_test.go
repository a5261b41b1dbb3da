package ingest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

const limit = 10_000 // bytes of a body, in these tests

// pack packs each part as one member.
func pack(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// noise is text that gzip makes nothing shorter of.
func noise(n int) string {
	var b strings.Builder
	x := uint64(1)
	for b.Len() < n {
		x = x*6364136223846793005 + 1442695040888963407
		b.WriteByte(byte(x >> 56))
	}
	return b.String()
}

func TestBodyAndUnpack(t *testing.T) {
	s := newService(t, Config{MaxBody: limit})
	broken := []byte(pack(t, "hello"))
	broken[len(broken)-8] ^= 1 // the checksum
	for _, c := range []struct {
		name     string
		encoding string
		sent     string
		want     string
		status   int
		code     string
	}{
		{"plain", "", "hello", "hello", 0, ""},
		{"identity", "identity", "hello", "hello", 0, ""},
		{"empty", "", "", "", 0, ""},
		{"as much as may be", "", strings.Repeat("x", limit), strings.Repeat("x", limit), 0, ""},
		{"one byte more", "", strings.Repeat("x", limit+1), "", 413, "too_large"},
		{"much more", "", strings.Repeat("x", 10*limit), "", 413, "too_large"},
		{"packed", "gzip", pack(t, "hello"), "hello", 0, ""},
		{"by another name", "X-GZIP", pack(t, "hello"), "hello", 0, ""},
		{"nothing packed", "gzip", pack(t, ""), "", 0, ""},
		{"members", "gzip", pack(t, "he", "", "llo"), "hello", 0, ""},
		{"as much packed as may be", "gzip", pack(t, strings.Repeat("x", limit)), strings.Repeat("x", limit), 0, ""},
		{"as much in members", "gzip", pack(t, strings.Repeat("x", limit/2), strings.Repeat("y", limit/2)), strings.Repeat("x", limit/2) + strings.Repeat("y", limit/2), 0, ""},
		{"one byte more unpacked", "gzip", pack(t, strings.Repeat("x", limit+1)), "", 413, "too_large"},
		{"one byte more in members", "gzip", pack(t, strings.Repeat("x", limit/2), strings.Repeat("x", limit/2+1)), "", 413, "too_large"},
		{"a bomb", "gzip", pack(t, strings.Repeat("x", 1<<20)), "", 413, "too_large"},
		{"too long as sent", "gzip", pack(t, noise(limit)), "", 413, "too_large"},
		{"many empty members", "gzip", strings.Repeat(pack(t, ""), limit/20), "", 413, "too_large"},
		{"not packed", "gzip", "hello", "", 400, "malformed"},
		{"not even begun", "gzip", "", "", 400, "malformed"},
		{"cut short", "gzip", pack(t, "hello")[:20], "", 400, "malformed"},
		{"cut in the head", "gzip", pack(t, "hello")[:5], "", 400, "malformed"},
		{"wrong checksum", "gzip", string(broken), "", 400, "malformed"},
		{"something behind it", "gzip", pack(t, "hello") + "x", "", 400, "malformed"},
		{"unknown", "br", "hello", "", 415, "encoding"},
	} {
		h := Head{ContentEncoding: c.encoding}
		got, err := s.Unpack(h, []byte(c.sent))
		wantRefusal(t, c.name+", unpacked", err, c.status, c.code)
		if err == nil && string(got) != c.want {
			t.Errorf("%s: %d bytes unpacked, want %d", c.name, len(got), len(c.want))
		}
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.sent), "by bytes": iotest.OneByteReader(strings.NewReader(c.sent)), "with the end": iotest.DataErrReader(strings.NewReader(c.sent))} {
			b := s.Body(h, r)
			got, err = io.ReadAll(b)
			if len(got) > limit {
				t.Errorf("%s, %s: %d bytes read", c.name, how, len(got))
			}
			if err != nil {
				err = b.Refusal(err)
			} else if string(got) != c.want {
				t.Errorf("%s, %s: %d bytes read, want %d", c.name, how, len(got), len(c.want))
			}
			wantRefusal(t, c.name+", "+how, err, c.status, c.code)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Decoders wrap what a reader says, or say something else: what went wrong with the body counts.
func TestBodyRefusal(t *testing.T) {
	s := newService(t, Config{MaxBody: limit})
	decoder := errors.New("unexpected end of input")
	for _, c := range []struct {
		name   string
		h      Head
		r      io.Reader
		status int
		code   string
	}{
		{"sound", Head{}, strings.NewReader("{"), 400, "malformed"},
		{"too long", Head{}, strings.NewReader(strings.Repeat("x", limit+1)), 413, "too_large"},
		{"too slow", Head{}, iotest.ErrReader(fmt.Errorf("read: %w", os.ErrDeadlineExceeded)), 408, "timeout"},
		{"too slow, packed", Head{ContentEncoding: "gzip"}, io.MultiReader(strings.NewReader(pack(t, "hello")[:12]), iotest.ErrReader(os.ErrDeadlineExceeded)), 408, "timeout"},
		{"gone", Head{}, iotest.ErrReader(io.ErrUnexpectedEOF), 400, "malformed"},
		{"not packed", Head{ContentEncoding: "gzip"}, strings.NewReader("{"), 400, "malformed"},
	} {
		b := s.Body(c.h, c.r)
		if err := b.Refusal(nil); err != nil {
			t.Errorf("%s: nothing went wrong, but %v", c.name, err)
		}
		_, _ = io.Copy(io.Discard, b)
		wantRefusal(t, c.name, b.Refusal(decoder), c.status, c.code)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := b.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: read after Close", c.name)
		}
		wantRefusal(t, c.name+", after Close", b.Refusal(decoder), c.status, c.code)
	}
	b := s.Body(Head{}, strings.NewReader("[]"))
	defer b.Close()
	wantRefusal(t, "a refusal of somebody else's", b.Refusal(fmt.Errorf("in a framework: %w", s.TooLarge())), 413, "too_large")
	wantRefusal(t, "a time-out that a decoder saw", b.Refusal(os.ErrDeadlineExceeded), 408, "timeout")
}

func TestMalformed(t *testing.T) {
	s := newService(t, Config{})
	h := Head{ContentType: string(JSON)}
	body := []byte(`[{"id":7}]`)
	var v []Record
	err := s.Malformed(h, body, json.Unmarshal(body, &v))
	wantRefusal(t, "of a wrong type", err, 400, "malformed")
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		t.Errorf("the cause is lost: %v", err)
	}
	if other := s.Malformed(h, body, errors.New("line 1: bad")); s.RefusalOf(other).Message != s.RefusalOf(err).Message {
		t.Errorf("two decoders, two answers: %v, %v", other, err)
	}
	wantRefusal(t, "of a refusal", s.Malformed(h, body, NotAllowed()), 405, "method_not_allowed")
	wantRefusal(t, "of nothing", s.Malformed(Head{}, nil, nil), 400, "malformed")
}

// TestFault: the client reads which record, which field, and what is expected.
func TestFault(t *testing.T) {
	raw, typed := newService(t, Config{}), newService(t, Config{Typed: true})
	const second = "; the record begins at byte 62"
	const sound = `{"id":"a","timestamp":"2026-03-01T12:00:00Z","metadata":{}},`
	for body, want := range map[string]string{
		"":              "the body is empty; expected is an array of records",
		" \n":           "the body is empty; expected is an array of records",
		`{"id":"a"}`:    "the body is an object; expected is an array of records",
		`7`:             "the body is a number; expected is an array of records",
		`true`:          "the body is true or false; expected is an array of records",
		`[{"id":"a"`:    "the body is not JSON: unexpected end of JSON input, at byte 10",
		`[{}]]`:         "the body is not JSON: invalid character ']' after top-level value, at byte 5",
		"[" + sound:     "the body is not JSON: unexpected end of JSON input, at byte 61",
		`["a"]`:         "record 1 of 1: it is a text; expected is an object; the record begins at byte 2",
		`[{"id":7}]`:    "record 1 of 1: id is a number; expected is a text; the record begins at byte 2",
		`[{"id":null}]`: "the body is an array of records, which this server's decoder does not accept: look for a key that occurs twice, or text that is not UTF-8",
		"[" + sound + `{"timestamp":"yesterday"}]`:                             `record 2 of 2: timestamp is "yesterday"` + "; expected is a number of seconds since 1970, e.g. 1460616245, or a text of RFC 3339, e.g. 2016-04-14T06:44:05Z" + second,
		"[" + sound + `{"timestamp":[7]}]`:                                     "record 2 of 2: timestamp is [7]; expected is a number of seconds since 1970, e.g. 1460616245, or a text of RFC 3339, e.g. 2016-04-14T06:44:05Z" + second,
		"[" + sound + `{"timestamp":"` + strings.Repeat("9", 100) + `"}]`:      "record 2 of 2: timestamp is a long text; expected is a number of seconds since 1970, e.g. 1460616245, or a text of RFC 3339, e.g. 2016-04-14T06:44:05Z" + second,
		"[" + sound + `{"metadata":[]}]`:                                       "record 2 of 2: metadata is []; expected is an object" + second,
		"[" + sound + `{"metadata":{"name":{}}},{}]`:                           "record 2 of 3: metadata.name is an object; expected is a text" + second,
		"[" + sound + `{"metadata":{"age":1.5}}]`:                              "record 2 of 2: metadata.age is the number 1.5; expected is an integer" + second,
		"[" + sound + `{"metadata":{"age":` + strings.Repeat("9", 100) + `}}]`: "record 2 of 2: metadata.age is the number 9999999999999999999999999999999999999999…; expected is an integer" + second,
		"[" + sound + `{"metadata":{"latitude":"x"}}]`:                         "record 2 of 2: metadata.latitude is a text; expected is a number" + second,
		"[" + sound + `{"metadata":{"isActive":1}}]`:                           "record 2 of 2: metadata.isActive is a number; expected is true or false" + second,
	} {
		s := raw
		if strings.Contains(want, "metadata.") {
			s = typed
		}
		h := Head{ContentType: "application/json"}
		b := s.Body(h, strings.NewReader(body))
		if _, err := b.Bytes(); err != nil {
			t.Fatal(err)
		}
		for how, err := range map[string]error{"read": b.Refusal(errors.New("x")), "unpacked": s.Malformed(h, []byte(body), errors.New("x"))} {
			if got := s.RefusalOf(err); got.Message != want || got.Code != "malformed" {
				t.Errorf("%.80s, %s:\n%q, want\n%q", body, how, got.Message, want)
			}
		}
		b.Close()
	}
}

// What a bomb takes is no more than a few times the limit.
func TestBombTakesLittle(t *testing.T) {
	const most = 1 << 20
	s := newService(t, Config{MaxBody: most})
	bomb := []byte(pack(t, strings.Repeat("\x00", 16<<20)))
	lying := append(bytes.Clone(bomb[:2000]), 0xff, 0xff, 0xff, 0xff) // it says that it becomes 4 GiB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 4 {
		_, err := s.Unpack(Head{ContentEncoding: "gzip"}, bomb)
		wantRefusal(t, "bomb", err, 413, "too_large")
		_, err = s.Unpack(Head{ContentEncoding: "gzip"}, lying)
		wantRefusal(t, "lying", err, 413, "too_large")
		b := s.Body(Head{ContentEncoding: "gzip"}, bytes.NewReader(bomb))
		if n, err := io.Copy(io.Discard, b); n > most {
			t.Errorf("%d bytes were read, %v", n, err)
		}
		b.Close()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 12; each > 4*most {
		t.Errorf("%d bytes allocated for each", each)
	}
}

// A reader that goes from one body to the next carries nothing over.
func TestBodiesAtOnce(t *testing.T) {
	s := newService(t, Config{MaxBody: limit})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 24 {
				want := strings.Repeat(fmt.Sprint(g, i, " "), 100)
				sent := pack(t, want)
				if i%3 == 0 {
					sent = sent[:len(sent)/2]
				}
				b := s.Body(Head{ContentEncoding: "gzip"}, strings.NewReader(sent))
				got, err := io.ReadAll(b)
				if i%3 == 0 && err == nil || i%3 > 0 && (err != nil || string(got) != want) {
					t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
				}
				b.Close()
				if out, err := s.Unpack(Head{ContentEncoding: "gzip"}, []byte(sent)); i%3 > 0 && (err != nil || string(out) != want) {
					t.Errorf("%d bytes unpacked, %v, want %d", len(out), err, len(want))
				}
			}
		}()
	}
	wg.Wait()
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add([]byte(pack(f, "hello")))
	f.Add([]byte(pack(f, "he", "llo")))
	f.Add([]byte(pack(f, strings.Repeat("x", 2*limit))))
	s, err := New(Config{MaxBody: limit})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		h := Head{ContentEncoding: "gzip"}
		whole, err := s.Unpack(h, sent)
		b := s.Body(h, bytes.NewReader(sent))
		defer b.Close()
		read, readErr := io.ReadAll(b)
		if len(whole) > limit || len(read) > limit {
			t.Errorf("%d and %d bytes", len(whole), len(read))
		}
		if err == nil && readErr == nil {
			if !bytes.Equal(whole, read) {
				t.Errorf("unpacked %d bytes, read %d", len(whole), len(read))
			}
			return
		}
		if err == nil || readErr == nil || s.RefusalOf(err).Code != s.RefusalOf(b.Refusal(readErr)).Code {
			t.Errorf("unpacked: %v, read: %v", err, readErr)
		}
	})
}
