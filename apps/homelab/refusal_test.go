package homelab_test

import (
	"encoding/json"
	"testing"

	"github.com/tarebench/tare/apps/homelab"
)

// Error responses that a server sends without calling the house name their cause.
func TestRefuse(t *testing.T) {
	h, err := homelab.New(homelab.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]string{
		400: "malformed", 401: "unauthorized", 404: "not_found", 405: "method_not_allowed",
		408: "timeout", 413: "too_large", 415: "unsupported_media_type", 500: "other",
	} {
		var got struct{ Error, Message string }
		body := h.Refuse(status, "so it is")
		if err := json.Unmarshal(body, &got); err != nil || got.Error != want || got.Message != "so it is" {
			t.Errorf("%d: %v %s, want the code %s", status, err, body, want)
		}
	}
}
