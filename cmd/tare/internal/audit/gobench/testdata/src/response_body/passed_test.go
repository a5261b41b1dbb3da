package response_body

import (
	"io"
	"net/http"
	"testing"
)

type checker struct{ b *testing.B }

func (c *checker) ok(resp *http.Response, err error) {
	if err != nil {
		c.b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		c.b.Fatal(resp.Status)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func BenchmarkPassed(b *testing.B) {
	c := &checker{b}
	client := http.DefaultClient
	checks := map[string]func(*http.Response){
		"close": func(resp *http.Response) { resp.Body.Close() },
		"code":  func(resp *http.Response) { _ = resp.StatusCode },
	}
	url := "http://127.0.0.1/"
	for b.Loop() {
		c.ok(client.Get(url)) // want `response to client.Get is closed unread`
	}
	for name, check := range checks {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				check(must(client.Get(url))) // want `response to must is closed unread`
			}
		})
	}
	b.Run("post", func(b *testing.B) {
		for b.Loop() {
			client.Post(url, "", nil) // want `response to client.Post is neither read nor closed` `error of client.Post is discarded`
		}
	})
}

func BenchmarkPassedHead(b *testing.B) {
	c := &checker{b}
	method := http.MethodHead
	request := must(http.NewRequest(method, "http://127.0.0.1/", nil))
	for b.Loop() {
		c.ok(http.DefaultClient.Do(request))
		c.ok(http.Head("http://127.0.0.1/"))
	}
}

func (c *checker) drained(resp *http.Response, err error) {
	if err != nil {
		c.b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		c.b.Fatal(err)
	}
}

func BenchmarkPassedAndRead(b *testing.B) {
	c := &checker{b}
	for b.Loop() {
		c.drained(http.Get("http://127.0.0.1/"))
	}
}
