package response_body

import (
	"io"
	"net/http"
)

// client asks one service.
type client struct{ http *http.Client }

// ask leaves the body of the response to its caller.
func (c *client) ask(url string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.http.Do(req)
}

// head reads the body itself.
func (c *client) head(url string) (*http.Response, error) {
	resp, err := c.http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp, err
}

// status passes the response to a function that closes it.
func (c *client) status(url string) (*http.Response, error) {
	resp, err := c.http.Get(url)
	if err != nil {
		return nil, err
	}
	return resp, discard(resp)
}

func discard(resp *http.Response) error { return resp.Body.Close() }
