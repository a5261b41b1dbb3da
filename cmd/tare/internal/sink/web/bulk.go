package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/internal/format"
)

// bulk is _bulk of Elasticsearch and OpenSearch. An event is created under its id, so a duplicate is stored
// once.
type bulk struct{}

func (bulk) mediaType() string { return "application/x-ndjson" }

func (bulk) requestURL(base url.URL, _ sink.Batch) url.URL {
	if !strings.HasSuffix(base.Path, "/_bulk") {
		base.Path = strings.TrimSuffix(base.Path, "/") + "/_bulk"
	}
	return base
}

func (bulk) appendBody(body []byte, b sink.Batch) ([]byte, []sink.Dead) {
	var dead []sink.Dead
	for i, e := range b.Events {
		id, err := sink.EventID(e.Line)
		if err != nil {
			dead = append(dead, sink.Dead{Index: i, Reason: err.Error(), Sure: true})
			continue
		}
		body = append(body, `{"create":{"_id":`...)
		body = append(body, id...)
		body = append(body, "}}\n"...)
		body = append(append(body, e.Line...), '\n')
	}
	return body, dead
}

// bulkResponse has the relevant fields of a response, such as:
//
//	{"errors":true,"items":[{"create":{"status":400,"error":{"type":"…","reason":"…"}}}]}
type bulkResponse struct {
	Errors *bool                 `json:"errors"` // nil if the response is not one of _bulk
	Items  []map[string]bulkItem `json:"items"`  // an item for each event, by the name of the operation
}

type bulkItem struct {
	Status int       `json:"status"`
	Error  bulkError `json:"error"`
}

type bulkError struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// isConfiguration reports whether status 400 is about the index or the request. Such an error can be corrected
// at the destination.
func (e bulkError) isConfiguration() bool {
	switch e.Type {
	case "invalid_index_name_exception", "index_closed_exception":
		return true
	case "illegal_argument_exception": // usually an error of a document
		isIndexError := strings.HasPrefix(e.Reason, "no write index is defined for alias")
		isRequestError := strings.HasPrefix(e.Reason, "pipeline with id [") || strings.HasPrefix(e.Reason, "request [")
		return isIndexError || isRequestError
	}
	return false
}

// isRejection reports whether a response rejects the content. It decides like plainAPI, except for errors that
// can be corrected at the destination.
func (bulk) isRejection(status int, header http.Header, responseBody []byte) bool {
	var a struct {
		Error json.RawMessage `json:"error"` // may be a text
	}
	var e bulkError
	if json.Unmarshal(responseBody, &a) == nil {
		_ = json.Unmarshal(a.Error, &e)
	}
	return plainAPI{}.isRejection(status, header, responseBody) && !e.isConfiguration()
}

// readResponse reads the status of each item. The response has 200 even if all items failed.
func (bulk) readResponse(responseBody []byte, _ http.Header, b sink.Batch) (result sink.Result, err error) {
	var a bulkResponse
	if err := json.Unmarshal(responseBody, &a); err != nil || a.Errors == nil {
		return result, fmt.Errorf("the answer is not that of _bulk: %s", format.Line(string(responseBody[:min(len(responseBody), 200)]), 200))
	}
	if len(a.Items) != len(b.Events) {
		return result, fmt.Errorf("the answer has %d items for %d events", len(a.Items), len(b.Events))
	}
	ailing := 0 // errors inside the server
	for i, item := range a.Items {
		if len(item) != 1 {
			return sink.Result{}, fmt.Errorf("item %d of the answer has %d operations", i, len(item))
		}
		for _, operation := range item { // the only one
			reason := format.Line(fmt.Sprintf("%d %s: %s", operation.Status, operation.Error.Type, operation.Error.Reason), 300)
			switch {
			case operation.isCreated(): // sent
			case operation.isRejected():
				result.Dead = append(result.Dead, sink.Dead{Index: i, Reason: reason})
			default: // an error of the token, the index or the server
				result.Again, result.Why = append(result.Again, i), "an item has "+reason
				if operation.Status/100 == 5 {
					ailing++
				}
			}
		}
	}
	result.Ails = ailing == len(result.Again)
	return result, nil
}

// isCreated reports whether the event is stored, now or earlier.
func (i bulkItem) isCreated() bool { return i.Status/100 == 2 || i.Status == http.StatusConflict }

func (i bulkItem) isRejected() bool {
	if i.Status == http.StatusRequestEntityTooLarge {
		return true
	}
	return plainAPI{}.isRejection(i.Status, nil, nil) && !i.Error.isConfiguration()
}

func (bulk) guarantee() sink.Promise {
	return sink.Promise{Sent: "item status 201, or 409 of one that is there already", Once: "the event's id as _id", Order: "that within a request; events that it requests again come later"}
}
