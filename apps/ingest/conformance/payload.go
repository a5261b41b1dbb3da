package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/internal/conformance"
)

// profileMetadata has the 17 members of [ingest.Metadata].
const profileMetadata = `{"index": 3, "guid": "0d5b4c0e-93a6-4a33-8a5c-6d1f2a7b9e10", "isActive": true, "balance": "$1,906.25",
	"picture": "http://pictures.example.org/64x64", "age": 41, "eyeColor": "grey", "name": "Ines Holm", "gender": "female", "company": "NORDLYS",
	"email": "ines.holm@example.org", "phone": "+46 (800) 555-2671", "address": "12 Quay Street, Lund, Scania, 22100",
	"about": "She keeps bees. She sells \"honey\" & wax <at> the market.\r\n", "registered": "2015-07-02T09:13:27 -02:00", "latitude": -41.270634, "longitude": 173.284}`

// losslessMetadata must be stored without a change in meaning.
func losslessMetadata() []string {
	return []string{
		profileMetadata,
		`{}`,
		`{"nested":{"a":[1,{"b":null}],"":[]},"unknown":[true,false]}`,
		`{"integer":9007199254740993,"large":123456789012345678901234567890,"fraction":0.1000000000000000055511151231257827,"exponent":1E30,"negative":-0}`,
		`{"nul":"\u0000","pair":"\ud83d\ude00","separator":"\u2028","escaped":"\/","text":"é€😀<&>"}`,
	}
}

// checkPayload checks the file in which a server stores records. Any object as metadata must be stored without
// a loss. Timestamps in all notations must be understood.
func checkPayload(e conformance.Env) error {
	path := filepath.Join(e.Dir, "payload.ndjson")
	addr, err := e.StartServer(map[string]string{serving.SetSink: "file:" + path})
	if err != nil || e.WrongOnPurpose || e.IsStatusOnly() {
		return err
	}
	stamps := []struct{ sent, stored string }{
		{`1460616245`, "2016-04-14T06:44:05Z"},
		{`1460616245.25`, "2016-04-14T06:44:05.25Z"},
		{`0`, "1970-01-01T00:00:00Z"},
		{`-1.5`, "1969-12-31T23:59:58.5Z"},
		{`"2016-04-14T08:44:05+02:00"`, "2016-04-14T08:44:05+02:00"},
	}
	var body, want bytes.Buffer
	all := losslessMetadata()
	for i, metadata := range all {
		separator := ","
		if i == 0 {
			separator = "["
		}
		fmt.Fprintf(&body, `%s{"id":"e-%d","timestamp":%s,"metadata":%s}`, separator, i, stamps[i].sent, metadata)
		fmt.Fprintf(&want, "{\"id\":\"e-%d\",\"timestamp\":%q,\"metadata\":%s}", i, stamps[i].stored, metadata)
	}
	body.WriteString("]")
	got, err := e.SendOnce(addr, postBody(body.String()))
	if err != nil || got.Status != 200 {
		return errors.Join(err, fmt.Errorf("metadata of any object: status %d %s, want 200", got.Status, got.Body))
	}
	var receipt ingest.Receipt
	if err := json.Unmarshal(got.Body, &receipt); err != nil || receipt.Accepted != len(all) {
		return errors.Join(err, fmt.Errorf("%s: want %d accepted", got.Body, len(all)))
	}
	// A decoder may reject these, but not change them.
	for _, metadata := range []string{`{"a":1,"a":2}`, `{"exponent":1E400}`} {
		got, err := e.SendOnce(addr, postBody(`[{"id":"e","timestamp":1,"metadata":`+metadata+`}]`))
		switch {
		case err != nil:
			return err
		case got.Status == 200:
			fmt.Fprintf(&want, `{"id":"e","timestamp":"1970-01-01T00:00:01Z","metadata":%s}`, metadata)
		case got.Status != 400:
			return fmt.Errorf("metadata %s: status %d, want 200 or 400", metadata, got.Status)
		default:
			if err := conformance.CheckErrorBody(got, "malformed"); err != nil {
				return err
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return sameTokens(text, want.Bytes())
}

// checkTrace checks that with the setting trace, events have their request's traceparent.
func checkTrace(e conformance.Env) error {
	path := filepath.Join(e.Dir, "trace.ndjson")
	addr, err := e.StartServer(map[string]string{serving.SetSink: "file:" + path, serving.SetTrace: server.On})
	if err != nil || e.WrongOnPurpose || e.IsStatusOnly() {
		return err
	}
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, header := range []string{trace, "", "none"} {
		request := postBody(`[{"id":"e","timestamp":1,"metadata":{}}]`)
		if header != "" {
			request.Header = append(request.Header, [2]string{"traceparent", header})
		}
		if got, err := e.SendOnce(addr, request); err != nil || got.Status != 200 {
			return errors.Join(err, fmt.Errorf("traceparent %q: status %d %s, want 200", header, got.Status, got.Body))
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const (
		traced   = `{"id":"e","timestamp":"1970-01-01T00:00:01Z","traceparent":"` + trace + `","metadata":{}}`
		untraced = `{"id":"e","timestamp":"1970-01-01T00:00:01Z","metadata":{}}`
	)
	return sameTokens(text, []byte(traced+untraced+untraced))
}

// sameTokens compares tokens of JSON in order. Numbers are compared as written, texts without escapes.
func sameTokens(got, want []byte) error {
	gotDecoder, wantDecoder := json.NewDecoder(bytes.NewReader(got)), json.NewDecoder(bytes.NewReader(want))
	gotDecoder.UseNumber()
	wantDecoder.UseNumber()
	for {
		gotToken, gotErr := gotDecoder.Token()
		wantToken, wantErr := wantDecoder.Token()
		switch {
		case errors.Is(gotErr, io.EOF) && errors.Is(wantErr, io.EOF):
			return nil
		case gotErr != nil || wantErr != nil || gotToken != wantToken:
			return fmt.Errorf("kept is\n%s%v instead of %v", got, gotToken, wantToken)
		}
	}
}

// typedProbes returns the probes of a server that decodes metadata.
func typedProbes() []conformance.Probe {
	return []conformance.Probe{
		acceptedBatch("["+testRecord()+"]", 1),
		acceptedBatch("["+testRecord(`"name":"u",`, `"name":"u","more":{"a":[1,2]},`)+"]", 1), // unknown fields
		wantMessage("["+testRecord()+","+testRecord(`"u"`, `["u"]`)+"]", "record 2 of 2: metadata.name is an array; expected is a text"),
		wantMessage("["+testRecord(`:1,`, `:"1",`)+"]", "metadata.age is a text; expected is an integer"),
		wantMessage("["+testRecord(`true`, `"yes"`)+"]", "metadata.isActive is a text; expected is true or false"),
		wantMessage("["+testRecord(`0.5`, `"half"`)+"]", "metadata.latitude is a text; expected is a number"),
	}
}
