package ingest

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestCrowdedJSON: what is looked at closer is counted, or has brackets that
// decoders may disagree on.
func TestCrowdedJSON(t *testing.T) {
	many := func(part string, n int) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	for _, tt := range []struct {
		body            string
		crowded, broken bool
	}{
		{"", false, false}, {"[]", false, false}, {"[" + many("1", maxCommas*2+1) + "]", false, false}, // few enough to be decoded
		{"[" + many("1", maxCommas*2+2) + "]", true, false},
		{" \n\t\r[" + many("{}", 1000) + "]", true, false},
		{"[" + many("1", 1000), true, false},                    // whatever follows
		{"{" + many(`"a":1`, 1000) + "}", false, false},         // no array
		{"[[" + many("1", 1000) + "]]", false, false},           // one element
		{"[{" + many(`"a":1`, 1000) + "},{}]", false, false},    // two
		{"[{" + many(`"a":1`, 1000) + "},{},{}]", true, false},  // three
		{`["` + many(`\\\"`, 1000) + `",1]`, false, false},      // commas in a string
		{`["` + many(`\\\"`, 1000) + `\\",1,2]`, true, false},   // that ends in a backslash
		{`["` + many("x", 1000), false, true},                   // a string without an end
		{many("1", 1000), false, false},                         // not in an array
		{`["[", "{", "]"` + many("1", 1000) + "]", true, false}, // brackets in strings
		{"]]" + many("1", 1000) + "[", false, true},
		{`[{"a":[}}}]},` + many("{}", 1000) + "]", false, true}, // a decoder that counts only one kind of brackets goes on
		{"[{]}" + many("1", 1000) + "]", false, true},
		{"{\"a\":[" + many("1", 1000) + "]}", false, false}, // deeper
		{strings.Repeat("[", maxDepth+1) + many("1", 1000), false, true},
	} {
		if exceeds, broken := exceedsLimitJSON([]byte(tt.body), 2); exceeds != tt.crowded || broken != tt.broken {
			t.Errorf("%.60q: crowded %v, broken %v", tt.body, exceeds, broken)
		}
	}
}

// TestCountBeforeDecoding: no stack is handed a body with more records than a
// batch may have, in any format.
func TestCountBeforeDecoding(t *testing.T) {
	s := newService(t, Config{})
	var gobs bytes.Buffer
	if err := gob.NewEncoder(&gobs).Encode(make([]Record, 11)); err != nil {
		t.Fatal(err)
	}
	message, err := EncodeProtobuf(make([]Record, 11))
	if err != nil {
		t.Fatal(err)
	}
	grouped := append([]byte{2<<3 | 3, 1 << 3, 1, 2<<3 | 4, 3<<3 | 5, 1, 2, 3, 4, 4<<3 | 1, 1, 2, 3, 4, 5, 6, 7, 8}, message...)
	for name, tt := range map[string]struct {
		format Format
		body   string
		code   string
	}{
		"JSON":                       {JSON, "[" + strings.Repeat("{},", 349_000) + "{}]", "batch"},
		"JSON in brackets of others": {JSON, `[{"a":[}}}]},` + strings.Repeat("{},", 1000) + "{}]", "malformed"},
		"protobuf":                   {Protobuf, string(message), "batch"},
		"protobuf after others":      {Protobuf, string(grouped), "batch"},
		"gob":                        {Gob, gobs.String(), "batch"},
		"no gob":                     {Gob, "[]", "malformed"},
	} {
		h := Head{ContentType: string(tt.format), ContentEncoding: "gzip"}
		sent := pack(t, tt.body)
		_, err := s.Unpack(h, []byte(sent))
		wantRefusal(t, name+", unpacked", err, 400, tt.code)
		b := s.Body(h, strings.NewReader(sent))
		got, err := io.ReadAll(b)
		wantRefusal(t, name+", read", b.Refusal(err), 400, tt.code)
		if len(got) > 0 {
			t.Errorf("%s: %d bytes were handed over", name, len(got))
		}
		b.Close()
		b = s.Body(h, strings.NewReader(sent))
		if err := b.Discard(); err != nil {
			t.Errorf("%s: thrown away: %v", name, err)
		}
		b.Close()
	}
	ten, err := EncodeProtobuf(make([]Record, 10))
	if err != nil {
		t.Fatal(err)
	}
	for format, body := range map[Format][]byte{Protobuf: ten, JSON: []byte("[{}]")} {
		if _, err := s.Unpack(Head{ContentType: string(format)}, body); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// ordinary is a batch of n records with all their fields.
func ordinary(t testing.TB, n int) []byte {
	t.Helper()
	r := Record{ID: "3f0c9a52-1d2e-4c55-9d0b-7a1f6f3f2b11", Timestamp: Time{at(0)}, Metadata: Metadata{
		Index: 3, GUID: "0d5b4c0e-93a6-4a33-8a5c-6d1f2a7b9e10", IsActive: true, Balance: "$1,906.25", Picture: "https://pictures.example.org/64x64", Age: 41,
		EyeColor: "grey", Name: "Ines Holm", Gender: "female", Company: "Nordlys", Email: "ines.holm@example.org", Phone: "+46 (800) 555-2671",
		Address: "12 Quay Street, Lund, Scania, 22100", About: "She keeps bees, and sells honey, wax, and candles.\r\n", Registered: "2015-07-02T09:13:27 -02:00",
		Latitude: 55.70466, Longitude: 13.191007,
	}}
	list := make([]Record, n)
	for i := range list {
		list[i] = r
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestOrdinaryIsNotLookedAt: batches as they are meant to be have too few commas for a closer look.
func TestOrdinaryIsNotLookedAt(t *testing.T) {
	for _, n := range []int{1, 10, 100} {
		if c := bytes.Count(ordinary(t, n), []byte(",")); c*2 > maxCommas*n {
			t.Errorf("%d commas in %d records", c, n)
		}
	}
}

// FuzzCrowdedJSON: a batch that would be taken is never refused beforehand.
func FuzzCrowdedJSON(f *testing.F) {
	f.Add([]byte(`[{"id":"a"},{"id":"b\"]"}]`))
	f.Add([]byte("[" + strings.Repeat("1,", 200) + "1]"))
	f.Add([]byte(`["\\",` + strings.Repeat(`"\"",`, 100) + "[],{}]"))
	f.Fuzz(func(t *testing.T, body []byte) {
		const most = 2
		var list []json.RawMessage
		taken := json.Unmarshal(body, &list) == nil && len(list) <= most
		if exceeds, broken := exceedsLimitJSON(body, most); (exceeds || broken) && taken {
			t.Errorf("%q: crowded %v, broken %v", body, exceeds, broken)
		}
		if _, broken := exceedsLimitJSON(body, most); broken && json.Valid(body) {
			t.Errorf("%q is JSON", body)
		}
	})
}

// BenchmarkCount is what the count costs a batch of ten.
func BenchmarkCount(b *testing.B) {
	s, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	batch := ordinary(b, 10)
	b.SetBytes(int64(len(batch)))
	for b.Loop() {
		if err := s.countRecords(Head{ContentType: string(JSON)}, batch); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzGobLen: the length is that of the slice which the decoder makes.
func FuzzGobLen(f *testing.F) {
	for _, n := range []int{0, 1, 200} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(make([]Record, n)); err != nil {
			f.Fatal(err)
		}
		if got, err := gobLen(b.Bytes()); err != nil || got != uint64(n) {
			f.Fatalf("%d, %v, want %d", got, err, n)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := gobLen(body)
		if err != nil || n > 1000 {
			return // refused before it is decoded
		}
		var list []Record
		if gob.NewDecoder(bytes.NewReader(body)).Decode(&list) == nil && uint64(len(list)) != n {
			t.Errorf("%q: %d records, foretold were %d", body, len(list), n)
		}
	})
}
