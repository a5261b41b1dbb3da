package workload

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

// referenceTime returns the time that the reference's clock always shows. Where the reference has this time, a
// measured response must have the time of the request; see sameUser.
func referenceTime() time.Time { return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

// referenceResponses has the responses of a correct service, the reference. The last also has the numbers of
// calls.
func referenceResponses(w wire.Workload, list []server.Request) ([]server.Response, error) {
	s := users.New(users.Config{Now: referenceTime}, newMirror(cmp.Or(w.N, storeUsers)))
	responses := make([]server.Response, len(list))
	for i, q := range list {
		responses[i] = serveRequest(s, q)
	}
	if len(list) > 0 {
		c := s.Calls()
		last := &responses[len(responses)-1]
		*last = server.Telling(*last, wire.Calls{Create: c.Create, Get: c.Get, Update: c.Update, Delete: c.Delete, List: c.List, Sum: c.Sum})
	}
	return responses, nil
}

func serveRequest(s *users.Service, q server.Request) server.Response {
	status, value, err := routeRequest(s, q)
	if err != nil {
		e := users.RefusalOf(err)
		return errorResponse(e.HTTP(), e.Code)
	}
	if text, ok := value.(string); ok {
		return server.Response{Status: status, Header: map[string]string{server.ContentType: server.TypeText}, Body: []byte(text)}
	}
	body, err := json.Marshal(value)
	if err != nil {
		e := users.RefusalOf(err)
		return errorResponse(e.HTTP(), e.Code)
	}
	return server.Response{Status: status, Header: map[string]string{server.ContentType: server.TypeJSON}, Body: body}
}

// routeRequest calls the operation of a request. value is a string, for plain text, or a value for JSON.
func routeRequest(s *users.Service, q server.Request) (status int, value any, err error) {
	ctx := context.Background()
	escaped, query, _ := strings.Cut(q.Path, "?")
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return 0, nil, users.NoPath()
	}
	if path == pathHealth {
		if q.Method != http.MethodGet {
			return 0, nil, users.NotAllowed()
		}
		return http.StatusOK, "ok\n", nil
	}
	if path == pathUsers {
		switch q.Method {
		case http.MethodPost:
			d, err := parseDraft(q.Body)
			if err != nil {
				return 0, nil, err
			}
			u, err := s.Create(ctx, d)
			return http.StatusCreated, u, err
		case http.MethodGet:
			page, err := serveList(ctx, s, query)
			return http.StatusOK, page, err
		}
		return 0, nil, users.NotAllowed()
	}
	text, ok := strings.CutPrefix(path, pathUsers+"/")
	if !ok || text == "" || strings.Contains(text, "/") {
		return 0, nil, users.NoPath()
	}
	value, err = serveUser(ctx, s, q, text)
	return http.StatusOK, value, err
}

// serveUser calls an operation on a single user. text is the id in the path.
func serveUser(ctx context.Context, s *users.Service, q server.Request, text string) (any, error) {
	if q.Method != http.MethodGet && q.Method != http.MethodPut && q.Method != http.MethodDelete {
		return nil, users.NotAllowed()
	}
	id, err := users.ParseID(text)
	if err != nil {
		return nil, err
	}
	switch q.Method {
	case http.MethodGet:
		return s.Get(ctx, id)
	case http.MethodPut:
		d, err := parseDraft(q.Body)
		if err != nil {
			return nil, err
		}
		return s.Update(ctx, id, d)
	}
	return struct{}{}, s.Delete(ctx, id)
}

func parseDraft(body []byte) (d users.Draft, err error) {
	if len(body) > users.MaxBody {
		return d, users.TooLarge()
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return d, users.Malformed(err)
	}
	return d, nil
}

func serveList(ctx context.Context, s *users.Service, query string) (users.Page, error) {
	values, _ := url.ParseQuery(query) // ignore parameters that cannot be parsed
	q, err := users.ParseQuery(values.Get("query"), values.Get("page"), values.Get("limit"))
	if err != nil {
		return users.Page{}, err
	}
	return s.List(ctx, q)
}
