package ingest

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimestamps(t *testing.T) {
	for text, want := range map[string]string{
		`1460616245`:                  "2016-04-14T06:44:05Z",
		`0`:                           "1970-01-01T00:00:00Z",
		`-1`:                          "1969-12-31T23:59:59Z",
		`-0.5`:                        "1969-12-31T23:59:59.5Z",
		`1460616245.123456789`:        "2016-04-14T06:44:05.123456789Z",
		`1460616245.1234567899`:       "2016-04-14T06:44:05.123456789Z",
		`"2016-04-14T06:44:05+02:00"`: "2016-04-14T06:44:05+02:00",
		`null`:                        "0001-01-01T00:00:00Z",
		`1.46e9`:                      "2016-04-07T03:33:20Z",
		`1.460616245E+9`:              "2016-04-14T06:44:05Z",
		`1460616245123e-3`:            "2016-04-14T06:44:05.123Z",
		`-5e-1`:                       "1969-12-31T23:59:59.5Z",
		`1.4606162451234567899e9`:     "2016-04-14T06:44:05.123456789Z",
		`0e0`:                         "1970-01-01T00:00:00Z",
		`7e-40`:                       "1970-01-01T00:00:00Z",
	} {
		var at Time
		if err := json.Unmarshal([]byte(text), &at); err != nil || at.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %v, want %s", text, at, err, want)
		}
	}
	for _, text := range []string{`"yesterday"`, `1e99`, `1e999999999999`, `1.5e33`, `1e`, `e9`, `1e+`, `1e++9`, `1e+-9`, `-e9`, `1e1e1`, `1.2.3e4`, `1-2e3`, `99999999999999999999`, `true`, `{}`, `[]`, `"1460616245"`} {
		var at Time
		if err := json.Unmarshal([]byte(text), &at); err == nil {
			t.Errorf("%s is taken as %v", text, at)
		}
	}
}

// Metadata of any object is kept as it came, whatever a decoder checked of it.
func TestRaw(t *testing.T) {
	s := newService(t, Config{})
	for metadata, want := range map[string]string{
		`{ "a": 9007199254740993,` + "\n" + ` "a": [1, 2] }`: `{"a":9007199254740993,"a":[1,2]}`,
		`{"a":"\u0000 <&> é"}`:                               `{"a":"\u0000 <&> é"}`,
		`{}`:                                                 `{}`,
	} {
		b := s.Batch(nil)
		if err := json.Unmarshal([]byte(`[{"id":"a","timestamp":1,"metadata":`+metadata+`}]`), b.Target()); err != nil {
			t.Fatal(err)
		}
		got, err := b.Metadata(0)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", metadata, got, err, want)
		}
	}
	for metadata, says := range map[string]string{"{\"a\":\"\xff\"}": "text that is not UTF-8", `{"a":1`: "is not JSON"} {
		b := &Decoded{raw: []RawRecord{{ID: "a", Metadata: Raw(metadata)}}}
		_, err := s.Accept(t.Context(), Head{}, b)
		_, err2 := b.Metadata(0)
		wantRefusal(t, says, err, 400, "record") // has no timestamp
		wantRefusal(t, says, err2, 400, "malformed")
	}
}
