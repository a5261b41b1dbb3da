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

// bulk is _bulk of Elasticsearch and OpenSearch. Every event is created under
// its id, so that one that is sent again is there once.
type bulk struct{ ordinary }

func (bulk) media() string { return "application/x-ndjson" }

func (bulk) address(base url.URL, _ sink.Batch) url.URL {
	if !strings.HasSuffix(base.Path, "/_bulk") {
		base.Path = strings.TrimSuffix(base.Path, "/") + "/_bulk"
	}
	return base
}

func (bulk) body(to []byte, b sink.Batch) ([]byte, []sink.Dead) {
	var dead []sink.Dead
	for i, e := range b.Events {
		id, err := sink.EventID(e.Line)
		if err != nil {
			dead = append(dead, sink.Dead{Index: i, Reason: err.Error()})
			continue
		}
		to = append(to, `{"create":{"_id":`...)
		to = append(to, id...)
		to = append(to, "}}\n"...)
		to = append(append(to, e.Line...), '\n')
	}
	return to, dead
}

// bulkAnswer is as far of an answer as matters.
type bulkAnswer struct {
	Errors *bool `json:"errors"`
	Items  []map[string]struct {
		Status int `json:"status"`
		Error  struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"error"`
	} `json:"items"`
}

// read goes by the status of each item: the whole is 200 also where none was
// taken.
func (bulk) read(answer []byte, _ http.Header, b sink.Batch) (result sink.Result, err error) {
	var a bulkAnswer
	if err := json.Unmarshal(answer, &a); err != nil || a.Errors == nil {
		return result, fmt.Errorf("the answer is not that of _bulk: %s", format.Line(string(answer[:min(len(answer), 200)]), 200))
	}
	if len(a.Items) != len(b.Events) {
		return result, fmt.Errorf("the answer has %d items for %d events", len(a.Items), len(b.Events))
	}
	for i, item := range a.Items {
		for _, one := range item {
			switch {
			case one.Status/100 == 2, one.Status == http.StatusConflict: // it is there already
			case one.Status == http.StatusTooManyRequests, one.Status/100 == 5, one.Status/100 != 4:
				result.Again = append(result.Again, i)
			default:
				reason := fmt.Sprintf("%d %s: %s", one.Status, one.Error.Type, one.Error.Reason)
				result.Dead = append(result.Dead, sink.Dead{Index: i, Reason: format.Line(reason, 300)})
			}
		}
		if len(item) != 1 {
			return sink.Result{}, fmt.Errorf("item %d of the answer has %d operations", i, len(item))
		}
	}
	return result, nil
}

func (bulk) promise() sink.Promise {
	return sink.Promise{Sent: "item status 201, or 409 of one that is there already", Once: "the event's id as _id", Order: "that within a request; events that it asks for again come later"}
}
