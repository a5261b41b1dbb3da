package nethttp

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tarebench/tare/app/ingest"
	"github.com/tarebench/tare/contender/fixture"
)

func TestCrowded(t *testing.T) {
	many := func(part string, n int) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	for _, tt := range []struct {
		body string
		want bool
	}{
		{"", false}, {"[]", false}, {"[" + many("1", commas*2+1) + "]", false}, // few enough to be decoded
		{"[" + many("1", commas*2+2) + "]", true},
		{" \n\t\r[" + many("{}", 1000) + "]", true},
		{"[" + many("1", 1000), true},                    // whatever follows
		{"{" + many(`"a":1`, 1000) + "}", false},         // no array
		{"[[" + many("1", 1000) + "]]", false},           // one element
		{"[{" + many(`"a":1`, 1000) + "},{}]", false},    // two
		{"[{" + many(`"a":1`, 1000) + "},{},{}]", true},  // three
		{`["` + many(`\\\"`, 1000) + `",1]`, false},      // commas in a string
		{`["` + many(`\\\"`, 1000) + `\\",1,2]`, true},   // that ends in a backslash
		{`["` + many("x", 1000), false},                  // a string without an end
		{many("1", 1000), false},                         // not in an array
		{`["[", "{", "]"` + many("1", 1000) + "]", true}, // brackets in strings
		{"]]" + many("1", 1000) + "[", false},            // no JSON
		{"\x00" + "[" + many("1", 1000) + "]", false},    // no JSON
		{"{\"a\":[" + many("1", 1000) + "]}", false},     // deeper
	} {
		if got := crowded([]byte(tt.body), 2); got != tt.want {
			t.Errorf("%.60q: %v", tt.body, got)
		}
	}
}

// TestOrdinaryIsNotLookedAt: batches as they are meant to be have too few
// commas for a closer look.
func TestOrdinaryIsNotLookedAt(t *testing.T) {
	for _, n := range []int{1, 10, 100} {
		pool, err := fixture.Pool("events", n, 8)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range pool {
			if c := bytes.Count(body, []byte(",")); c*2 > commas*n {
				t.Errorf("%d commas in %d records", c, n)
			}
		}
	}
}

// FuzzCrowded: a batch that would be taken is never held to be crowded, and
// what is crowded would be refused.
func FuzzCrowded(f *testing.F) {
	f.Add([]byte(`[{"id":"a"},{"id":"b\"]"}]`))
	f.Add([]byte("[" + strings.Repeat("1,", 200) + "1]"))
	f.Add([]byte(`["\\",` + strings.Repeat(`"\"",`, 100) + "[],{}]"))
	f.Fuzz(func(t *testing.T, body []byte) {
		const most = 2
		var list []json.RawMessage
		taken := json.Unmarshal(body, &list) == nil && len(list) <= most
		if got := crowded(body, most); got && taken {
			t.Errorf("%q is crowded", body)
		}
	})
}

// FuzzGobLen: the length is that of the slice which the decoder makes.
func FuzzGobLen(f *testing.F) {
	for _, n := range []int{0, 1, 200} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(make([]ingest.Record, n)); err != nil {
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
		var list []ingest.Record
		if gob.NewDecoder(bytes.NewReader(body)).Decode(&list) == nil && uint64(len(list)) != n {
			t.Errorf("%q: %d records, foretold were %d", body, len(list), n)
		}
	})
}
