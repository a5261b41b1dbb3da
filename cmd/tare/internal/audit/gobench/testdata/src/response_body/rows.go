package response_body

import (
	"io"
	"net/http"
)

// rows reads its entries one by one.
type rows struct {
	open *int
	left int
}

func query(n int) (*rows, error) { return &rows{open: new(int), left: n}, nil }

func (r *rows) Next() bool {
	r.left--
	return r.left >= 0
}

func (r *rows) Close() error { *r.open--; return nil }

// object is a download.
type object struct {
	Size int64
	body io.ReadCloser
}

func (o *object) Read(p []byte) (int, error) { return o.body.Read(p) }
func (o *object) Close() error               { return o.body.Close() }

func openObject(url string) (*object, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	return &object{Size: resp.ContentLength, body: resp.Body}, nil
}
