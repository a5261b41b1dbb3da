package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// clickHouse inserts rows of id, timestamp and the fields of the metadata.
type clickHouse struct {
	table string // TABLE or DATABASE.TABLE
	dedup bool   // a token lets the server recognise duplicates
}

// newClickHouse reads the path: /TABLE or /DATABASE/TABLE.
func newClickHouse(t sink.Target) (eventAPI, error) {
	parts := strings.Split(strings.Trim(t.URL.Path, "/"), "/")
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	if len(parts) > 2 || slices.ContainsFunc(parts, func(part string) bool { return !name.MatchString(part) }) {
		return nil, fmt.Errorf("sink %s: the path %q is neither /TABLE nor /DATABASE/TABLE", t.Name(), t.URL.Path)
	}
	return clickHouse{table: strings.Join(parts, "."), dedup: t.Options["dedup"] != "off"}, nil
}

func (clickHouse) mediaType() string { return "application/x-ndjson" }

// requestURL adds settings of ClickHouse, unless the user's URL has them.
func (c clickHouse) requestURL(base url.URL, b sink.Batch) url.URL {
	query := base.Query()
	setDefault := func(name, value string) {
		if !query.Has(name) {
			query.Set(name, value)
		}
	}
	query.Set("query", "INSERT INTO "+c.table+" FORMAT JSONEachRow")
	setDefault("input_format_skip_unknown_fields", "1")
	setDefault("date_time_input_format", "best_effort")
	if c.dedup { // unknown to servers before 2022
		setDefault("wait_for_async_insert", "1") // otherwise the server may respond before the insertion
		query.Set("insert_deduplication_token", b.Name())
	}
	base.Path, base.RawQuery = "/", query.Encode()
	return base
}

func (clickHouse) appendBody(body []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for _, e := range b.Events {
		body = append(sink.AppendFlat(body, e.Line), '\n')
	}
	return body, nil
}

// exceptionHeader is the response header with the code of an exception.
const exceptionHeader = "X-ClickHouse-Exception-Code"

// readResponse returns an error if there was an exception after the status was sent.
func (clickHouse) readResponse(responseBody []byte, header http.Header, _ sink.Batch) (sink.Result, error) {
	code := header.Get(exceptionHeader)
	if code == "" && len(responseBody) > 0 {
		code = string(responseBody[:min(len(responseBody), 200)])
	}
	if code != "" && code != "0" {
		return sink.Result{}, fmt.Errorf("the answer has an exception: %s", strings.TrimSpace(code))
	}
	return sink.Result{}, nil
}

// rejectionCodes are exceptions about events, with their names.
var rejectionCodes = map[string]string{
	"6":   "CANNOT_PARSE_TEXT",
	"25":  "CANNOT_PARSE_ESCAPE_SEQUENCE",
	"26":  "CANNOT_PARSE_QUOTED_STRING",
	"27":  "CANNOT_PARSE_INPUT_ASSERTION_FAILED",
	"32":  "ATTEMPT_TO_READ_AFTER_EOF",
	"33":  "CANNOT_READ_ALL_DATA",
	"38":  "CANNOT_PARSE_DATE",
	"41":  "CANNOT_PARSE_DATETIME",
	"53":  "TYPE_MISMATCH",
	"69":  "ARGUMENT_OUT_OF_BOUND",
	"72":  "CANNOT_PARSE_NUMBER",
	"117": "INCORRECT_DATA", // also an unknown field
	"469": "VIOLATED_CONSTRAINT",
}

// isRejection uses the code of the exception. The status varies: versions send 400 or 500 for events that they
// cannot parse.
func (clickHouse) isRejection(_ int, header http.Header, responseBody []byte) bool {
	code := header.Get(exceptionHeader)
	if code == "" { // the body begins so: Code: 27. DB::Exception: …
		if found := regexp.MustCompile(`^Code: (\d+)`).FindSubmatch(responseBody); found != nil {
			code = string(found[1])
		}
	}
	_, isRejection := rejectionCodes[code]
	return isRejection
}

func (c clickHouse) guarantee() sink.Promise {
	p := sink.Promise{Sent: "inserted"}
	if c.dedup {
		p.Once = "the batch's insert_deduplication_token, if the table deduplicates (replicated, or non_replicated_deduplication_window)"
	}
	return p
}
