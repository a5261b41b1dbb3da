package users_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tarebench/tare/apps/users"
)

func TestCodes(t *testing.T) {
	want := map[users.Code][2]int{ // HTTP, gRPC; see google.rpc.Code
		users.Canceled: {499, 1}, users.InvalidArgument: {400, 3}, users.DeadlineExceeded: {504, 4}, users.NotFound: {404, 5},
		users.AlreadyExists: {409, 6}, users.ResourceExhausted: {429, 8}, users.Internal: {500, 13}, users.Unavailable: {503, 14},
	}
	for _, c := range users.Codes() {
		if got := [2]int{c.HTTP(), c.GRPC()}; got != want[c] {
			t.Errorf("%s: %d, want %d", c, got, want[c])
		}
		delete(want, c)
	}
	if len(want) > 0 {
		t.Errorf("not among the codes: %v", want)
	}
	if c := users.Code("none"); c.HTTP() != 500 || c.GRPC() != 13 {
		t.Errorf("an unknown code: %d, %d", c.HTTP(), c.GRPC())
	}
}

func TestRefusalOf(t *testing.T) {
	long := &http.MaxBytesError{Limit: users.MaxBody}
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{users.ErrNotFound, 404, `{"code":"not_found","message":"no such user"}`},
		{fmt.Errorf("row: %w", users.ErrNotFound), 404, `{"code":"not_found","message":"no such user"}`},
		{users.ErrEmailTaken, 409, `{"code":"already_exists","message":"the e-mail is taken"}`},
		{context.Canceled, 499, `{"code":"canceled","message":"the caller has gone"}`},
		{context.DeadlineExceeded, 504, `{"code":"deadline_exceeded","message":"the caller's time is over"}`},
		{errors.New("secret"), 500, `{"code":"internal","message":"the service failed"}`},
		{users.Limited(), 429, `{"code":"resource_exhausted","message":"too many requests"}`},
		{users.Malformed(errors.New("secret")), 400, `{"code":"invalid_argument","message":"body: not a user as JSON"}`},
		{users.Malformed(nil), 400, `{"code":"invalid_argument","message":"body: not a user as JSON"}`},
		{users.Malformed(fmt.Errorf("read: %w", long)), 413, `{"code":"invalid_argument","message":"body: at most 65536 bytes"}`},
		{users.Malformed(users.Limited()), 429, `{"code":"resource_exhausted","message":"too many requests"}`},
		{long, 413, `{"code":"invalid_argument","message":"body: at most 65536 bytes"}`},
		{users.TooLarge(), 413, `{"code":"invalid_argument","message":"body: at most 65536 bytes"}`},
		{users.NoPath(), 404, `{"code":"not_found","message":"nothing is at this path; there are POST and GET /v1/users, GET, PUT and DELETE /v1/users/{id}, and GET /health"}`},
		{users.NotAllowed(), 405, `{"code":"invalid_argument","message":"this path does not take this method"}`},
		{fmt.Errorf("more: %w", &users.Error{Code: users.Unavailable, Message: "m"}), 503, `{"code":"unavailable","message":"m"}`},
	} {
		e := users.RefusalOf(c.err)
		body, err := json.Marshal(e)
		if err != nil || e.HTTP() != c.status || string(body) != c.body || strings.Contains(e.Error(), "secret") {
			t.Errorf("%v: %d %s, want %d %s", c.err, e.HTTP(), body, c.status, c.body)
		}
	}
	if e := users.RefusalOf(nil); e != nil {
		t.Errorf("no error is refused as %v", e)
	}
	cause := errors.New("disk full")
	if e := users.RefusalOf(cause); !errors.Is(e, cause) {
		t.Errorf("%v has lost its cause", e)
	}
}

func TestMetrics(t *testing.T) {
	ctx := t.Context()
	s := service(t, users.Config{Limit: 1, Now: newClock().Now}, 2)
	_, _ = s.Get(ctx, users.FirstID)
	_, _ = s.Get(ctx, 1)
	_, _ = s.Create(ctx, users.Draft{})
	_ = s.Delete(ctx, 1)
	_, _ = s.Allow(), s.Allow()
	text := string(s.Metrics())
	for _, line := range []string{
		`users_calls_total{method="get"} 2`, `users_calls_total{method="create"} 1`, `users_calls_total{method="delete"} 1`,
		`users_calls_total{method="list"} 0`, `users_calls_total{method="update"} 0`,
		`users_refusals_total{code="not_found"} 2`, `users_refusals_total{code="invalid_argument"} 1`,
		`users_refusals_total{code="resource_exhausted"} 1`, `users_refusals_total{code="internal"} 0`,
		"# TYPE users_calls_total counter", "# TYPE users_refusals_total counter",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	if err := s.Reset(ctx, 2); err != nil || !strings.Contains(string(s.Metrics()), `users_calls_total{method="get"} 0`) {
		t.Errorf("after a reset: %v\n%s", err, s.Metrics())
	}
}
