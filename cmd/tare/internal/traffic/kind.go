package traffic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/openapi"
)

// Kind is the format of a file of requests.
type Kind int

// Formats of files.
const (
	Unknown   Kind = iota
	AccessLog      // log of a web server in the common or combined format
	HAR            // HTTP archive, which browsers record
	OpenAPI        // description of an API
	Caddy          // JSON log of the web server Caddy
	Lines          // one request in JSON per line, a format of tare
	DryRun         // document of "tare load --dry-run --json"
)

// dryRunSchema is the value of "schema" in the document of a dry run.
const dryRunSchema = "tare.dryrun/1"

// IsTares reports whether files of the format are made for tare, not recorded. In such a file an
// invalid request is an error, and secret values stay.
func (k Kind) IsTares() bool { return k == Lines || k == DryRun }

// Formats lists the supported formats, for messages.
const Formats = "read are access logs in the common and the combined format, Caddy's JSON log, HAR, OpenAPI documents, " +
	`a request on each line: {"method":"POST","path":"/v1","header":{},"body":"base64"}, and what --dry-run --json prints`

// String returns the name of the format with its article.
func (k Kind) String() string {
	names := map[Kind]string{
		AccessLog: "an access log", HAR: "an HTTP archive (HAR)", OpenAPI: "an OpenAPI document",
		Caddy: "a JSON log of Caddy", Lines: "a request on each line", DryRun: "a dry run of tare load",
	}
	return cmp.Or(names[k], "unknown")
}

// maxSniffed limits the lines or JSON values that Sniff reads. Logs also contain other messages.
const maxSniffed = 100

// Sniff returns the format of a file by its beginning, which should have a MiB. isCut means that the
// file continues after begin.
func Sniff(begin []byte, isCut bool) Kind {
	if start := bytes.TrimSpace(begin); bytes.HasPrefix(start, []byte("{")) {
		if k := sniffJSON(start); k != Unknown {
			return k
		}
	}
	if openapi.IsDocument(begin, isCut) {
		return OpenAPI
	}
	n := 0
	for line := range bytes.Lines(bytes.TrimSpace(begin)) {
		if stamp.Match(line) {
			return AccessLog
		}
		if n++; n == maxSniffed {
			break
		}
	}
	return Unknown
}

// sniffJSON recognises formats except OpenAPI.
func sniffJSON(begin []byte) Kind {
	dec := json.NewDecoder(bytes.NewReader(begin))
	for range maxSniffed {
		if k, isComplete := sniffObject(dec, begin); k != Unknown || !isComplete {
			return k
		}
	}
	return Unknown
}

// sniffObject returns the format that the next object of dec shows, e.g. HAR for {"log": {…}}. dec must
// read begin. isComplete is false if the object does not end within begin.
func sniffObject(dec *json.Decoder, begin []byte) (k Kind, isComplete bool) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Unknown, false
	}
	isLine := true                 // all keys so far are keys of the format Lines
	var isHandled, hasRequest bool // the object has fields of a line of Caddy's log
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return Unknown, false
		}
		name, _ := key.(string)
		if name == "log" && bytes.HasPrefix(bytes.TrimLeft(begin[dec.InputOffset():], " \t\r\n:"), []byte("{")) {
			return HAR, true
		}
		isLine = isLine && isRequestKey(name)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			if isLine { // the value, probably the body of a request, continues after begin
				return Lines, true
			}
			return Unknown, false
		}
		switch name {
		case "schema":
			if string(value) == strconv.Quote(dryRunSchema) {
				return DryRun, true
			}
		case "path":
			var path string
			if json.Unmarshal(value, &path) == nil && strings.HasPrefix(path, "/") {
				return Lines, true
			}
		case "request":
			var q struct{ Method, URI string }
			if json.Unmarshal(value, &q) == nil && q.Method != "" && q.URI != "" {
				hasRequest = true
			}
		case "msg":
			isHandled = string(value) == `"handled request"`
		}
		if isHandled && hasRequest {
			return Caddy, true
		}
	}
	_, err := dec.Token()
	return Unknown, err == nil
}

func isRequestKey(name string) bool {
	switch name {
	case "method", "path", "header", "body", "items":
		return true
	}
	return false
}
