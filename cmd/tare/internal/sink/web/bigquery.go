package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/internal/format"
)

// bigQuery is tabledata.insertAll of BigQuery. The path is /bigquery/v2/projects/P/datasets/D/tables/T.
type bigQuery struct{ plainAPI }

func (bigQuery) mediaType() string { return "application/json" }

func (bigQuery) requestURL(base url.URL, _ sink.Batch) url.URL {
	if !strings.HasSuffix(base.Path, "/insertAll") {
		base.Path = strings.TrimSuffix(base.Path, "/") + "/insertAll"
	}
	return base
}

func (bigQuery) appendBody(body []byte, b sink.Batch) ([]byte, []sink.Dead) {
	var dead []sink.Dead
	body = append(body, `{"kind":"bigquery#tableDataInsertAllRequest","skipInvalidRows":true,"ignoreUnknownValues":true,"rows":[`...)
	for i, e := range b.Events {
		id, err := sink.EventID(e.Line)
		if err != nil {
			dead = append(dead, sink.Dead{Index: i, Reason: err.Error(), Sure: true})
			continue
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, `{"insertId":`...)
		body = append(body, id...)
		body = append(body, `,"json":`...)
		body = append(append(body, e.Line...), '}')
	}
	return append(body, "]}"...), dead
}

type insertResponse struct {
	Kind         string `json:"kind"`
	InsertErrors []struct {
		Index  int `json:"index"`
		Errors []struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"errors"`
	} `json:"insertErrors"`
}

// readResponse reads errors of rows. The status is always 200.
func (bigQuery) readResponse(responseBody []byte, _ http.Header, b sink.Batch) (result sink.Result, err error) {
	var a insertResponse
	if err := json.Unmarshal(responseBody, &a); err != nil || a.Kind != "bigquery#tableDataInsertAllResponse" {
		return result, fmt.Errorf("the answer is not that of insertAll: %s", format.Line(string(responseBody[:min(len(responseBody), 200)]), 200))
	}
	// The row itself is correct and may be accepted later.
	temporary := []string{"stopped", "timeout", "backendError", "internalError", "rateLimitExceeded", "quotaExceeded"}
	seen := map[int]bool{}
	for _, row := range a.InsertErrors {
		if row.Index < 0 || row.Index >= len(b.Events) {
			return sink.Result{}, fmt.Errorf("the answer is about row %d of %d", row.Index, len(b.Events))
		}
		reason := ""
		for _, e := range row.Errors {
			if !slices.Contains(temporary, e.Reason) {
				reason = e.Reason + ": " + e.Message
			}
		}
		switch {
		case seen[row.Index]: // only the first entry of a row counts
		case reason != "":
			result.Dead = append(result.Dead, sink.Dead{Index: row.Index, Reason: format.Line(reason, 300)})
		default:
			result.Again = append(result.Again, row.Index)
		}
		seen[row.Index] = true
	}
	return result, nil
}

func (bigQuery) guarantee() sink.Promise {
	return sink.Promise{Sent: "no error of its row", Once: "the event's id as insertId, for about a minute"}
}
