// Package ingest is the business logic of a service that accepts batches of events from applications and
// stores them.
//
//	POST /             application/json, application/x-protobuf or application/x-gob: an array of records
//	                   200  application/json  {"accepted":10,"bytes":6420}
//	GET  /health       200  text/plain        ok and a line end
//	GET  /metrics      200  text/plain        counters as Prometheus reads them
//	GET  /openapi.json 200  application/json  this API as an OpenAPI document
//
// A record is {id, timestamp, metadata}. The timestamp is a number of seconds since 1970 or a text of
// RFC 3339. Metadata is any object, which the service stores without interpreting it and without white
// space between its members. With Config.Typed the service instead decodes the 17 fields of [Metadata]
// and encodes them again; other members are lost. A batch has 1 to Config.Limit records. Each record
// goes to a sink as one line of JSON, with its timestamp in RFC 3339. The response contains the number
// of records that the sink has stored, and the bytes of their metadata, so that the client can check
// that the work was done.
//
// For errors see [Refusal]. Members of a record other than id, timestamp and metadata
// are ignored. If one of the three occurs twice, the last one counts, unless the decoder
// of the framework takes another. Bodies in protobuf and gob have the 17 fields.
//
// The package does not import net/http. A stack (a framework and the code around it) checks the head of
// a request with [Service.Admit], reads the body through [Service.Body] or [Service.Unpack], decodes it
// with any decoder, and passes the records to [Service.Accept]. Body and Unpack count the records
// before they return a body, so that no stack decodes more records than a batch may have. The count
// takes the same time in every stack, about 0.25 µs for a batch of ten records.
package ingest

// Name is the name of the app, in studies and on command lines.
const Name = "ingest"

// Record is one event whose metadata is decoded.
type Record struct {
	ID        string   `json:"id"`
	Timestamp Time     `json:"timestamp"`
	Metadata  Metadata `json:"metadata"`
}

// Metadata reports a user's profile, with the members of the service's published example.
type Metadata struct {
	Index      int     `json:"index"`
	GUID       string  `json:"guid"`
	IsActive   bool    `json:"isActive"`
	Balance    string  `json:"balance"`
	Picture    string  `json:"picture"`
	Age        int     `json:"age"`
	EyeColor   string  `json:"eyeColor"`
	Name       string  `json:"name"`
	Gender     string  `json:"gender"`
	Company    string  `json:"company"`
	Email      string  `json:"email"`
	Phone      string  `json:"phone"`
	Address    string  `json:"address"`
	About      string  `json:"about"`
	Registered string  `json:"registered"`
	Latitude   float64 `json:"latitude"`
	Longitude  float64 `json:"longitude"`
}

// Receipt is the response to an accepted batch.
type Receipt struct {
	Accepted int   `json:"accepted"` // number of records
	Bytes    int64 `json:"bytes"`    // bytes of the encoded metadata of all records
}
