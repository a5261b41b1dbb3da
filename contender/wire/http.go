package wire

// HTTPRequest is a request to a router or server: one line of a pool.
type HTTPRequest struct {
	Method string            `json:"method"`
	Path   string            `json:"path"` // escaped path with the query, as in a request line
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`  // base64 on the wire
	Items  int               `json:"items,omitempty"` // items in the body of a batch
}

// HTTPResponse is the response to an HTTPRequest.
type HTTPResponse struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"` // only the headers that are compared
	Body   []byte            `json:"body,omitempty"`   // base64 on the wire
}
