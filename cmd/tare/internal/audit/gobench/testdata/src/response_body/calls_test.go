package response_body

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

type caller struct {
	client *http.Client
	last   string
}

func (c *caller) isNew() (bool, error) {
	resp, err := c.client.Get("http://127.0.0.1/") // want `neither read nor closed on a path to line 2[0-9]`
	if err != nil {
		return false, err
	}
	if resp.Header.Get("ETag") == c.last {
		return false, nil
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return true, err
}

func status(c *http.Client) (int, error) {
	resp, err := c.Get("http://127.0.0.1/") // want `neither read nor closed`
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}

func closeOnly(resp *http.Response) { resp.Body.Close() }

func drain(resp *http.Response) error {
	_, err := io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}

func request(c *http.Client) (*http.Response, error) { return c.Get("http://127.0.0.1/") }

func get(c *http.Client) error {
	resp, err := c.Get("http://127.0.0.1/")
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return drain(resp)
}

func BenchmarkCalls(b *testing.B) {
	c := &caller{client: http.DefaultClient}
	for b.Loop() {
		if _, err := c.isNew(); err != nil {
			b.Fatal(err)
		}
		if code, err := status(c.client); err != nil || code != 200 {
			b.Fatal(code, err)
		}
		resp, err := request(c.client) // want `closed unread`
		if err != nil {
			b.Fatal(err)
		}
		closeOnly(resp)
		if err := get(c.client); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSkips(b *testing.B) {
	for b.Loop() {
		resp, err := http.Get("http://127.0.0.1/") // want `neither read nor closed on a path to line`
		if err != nil {
			b.Fatal(err)
		}
		if resp.ContentLength == 0 {
			continue
		}
		drain(resp)
	}
}
