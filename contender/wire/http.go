package wire

// HTTPRequest is a case of the kinds that answer HTTP: one line of a pool.
type HTTPRequest struct {
	Method string            `json:"method"`
	Path   string            `json:"path"` // as in the request line: escaped, with the query
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`  // base64 on the wire
	Items  int               `json:"items,omitempty"` // in the body, where it is a batch
}

// HTTPResponse is the answer to one. Header holds only what the kind compares.
type HTTPResponse struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"` // base64 on the wire
}
