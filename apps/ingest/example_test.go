package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tarebench/tare/apps/ingest"
)

// answer is what a stack does with a request.
func answer(s *ingest.Service, contentType, sent string) (status int, body any) {
	receipt, err := accept(s, ingest.Head{ContentType: contentType, Length: int64(len(sent))}, sent)
	if err != nil {
		refusal := s.RefusalOf(err)
		return refusal.Status, refusal
	}
	return 200, receipt
}

func accept(s *ingest.Service, h ingest.Head, sent string) (ingest.Receipt, error) {
	if _, err := s.Admit(h); err != nil {
		return ingest.Receipt{}, err
	}
	body := s.Body(h, strings.NewReader(sent))
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	batch := s.Batch(json.Marshal)
	if err := json.Unmarshal(text, batch.Target()); err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	return s.Accept(context.Background(), h, batch)
}

func Example() {
	s, err := ingest.New(ingest.Config{Limit: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	show := func(status int, body any) {
		text, err := json.Marshal(body)
		fmt.Println(status, string(text), err)
	}
	record := `{"id":"1","timestamp":"2025-03-01T12:00:00Z","metadata":{"user_id":"u-1"}}`
	show(answer(s, "application/json", "["+record+"]"))
	show(answer(s, "application/json; charset=utf-8", "["+record+","+record+"]"))
	show(answer(s, "application/json", "["+record+","+record+","+record+"]"))
	show(answer(s, "application/json", `[{"id":"1"}]`))
	show(answer(s, "application/json", `[{"id":1}]`))
	show(answer(s, "text/plain", "["+record+"]"))
	fmt.Println(s.Delivered())
	// Output:
	// 200 {"accepted":1,"bytes":17} <nil>
	// 200 {"accepted":2,"bytes":34} <nil>
	// 400 {"error":"batch","message":"a batch has at most 2 records, this one has 3"} <nil>
	// 400 {"error":"record","message":"record 1 of 1 has no timestamp"} <nil>
	// 400 {"error":"malformed","message":"record 1 of 1: id is a number; expected is a text; the record begins at byte 2"} <nil>
	// 415 {"error":"media_type","message":"a body is application/json, and text in it UTF-8"} <nil>
	// 3
}
