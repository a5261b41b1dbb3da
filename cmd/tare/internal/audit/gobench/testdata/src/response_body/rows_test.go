package response_body

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

var lastRows *rows

func BenchmarkQuery(b *testing.B) {
	for b.Loop() {
		r, err := query(100) // want `nothing calls Next of r, which query returns, or closes it`
		if err != nil {
			b.Fatal(err)
		}
		lastRows = r
	}
}

func BenchmarkQueryClosed(b *testing.B) {
	b.SetBytes(100)
	for b.Loop() {
		r, err := query(100) // want `nothing calls Next of r`
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkQueryRead(b *testing.B) {
	for b.Loop() {
		r, err := query(100)
		if err != nil {
			b.Fatal(err)
		}
		for r.Next() {
		}
		r.Close()
	}
}

// Opening and closing is the operation.
func BenchmarkOpenRows(b *testing.B) {
	for b.Loop() {
		r, err := query(100)
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkObject(b *testing.B) {
	total := int64(0)
	for b.Loop() {
		o, err := openObject("http://127.0.0.1:1/") // want `nothing reads o, which openObject opens, and SetBytes counts its bytes`
		if err != nil {
			b.Fatal(err)
		}
		total += o.Size
		o.Close()
	}
	b.SetBytes(total / int64(b.N))
}

func BenchmarkObjectRead(b *testing.B) {
	b.SetBytes(100)
	for b.Loop() {
		o, err := openObject("http://127.0.0.1:1/")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, o); err != nil {
			b.Fatal(err)
		}
		o.Close()
	}
}

type hitClient struct{}

func (hitClient) get(url string) (*http.Response, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, errors.New(resp.Status)
	}
	return resp, nil
}

func (c hitClient) count(url string) (string, error) {
	resp, err := c.get(url) // want `the body of the response to c.get is closed unread`
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Header.Get("X-Hits"), nil
}

func (c hitClient) size(url string) (int64, error) {
	resp, err := c.get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return io.Copy(io.Discard, resp.Body)
}

func BenchmarkCount(b *testing.B) {
	var c hitClient
	for b.Loop() {
		if _, err := c.count("http://127.0.0.1:1/"); err != nil {
			b.Fatal(err)
		}
		if _, err := c.size("http://127.0.0.1:1/"); err != nil {
			b.Fatal(err)
		}
	}
}
