// Command jsoniter-stream-unflushed is a trap, a contender that reproduces a
// published mistake. It writes through json-iterator's Stream and never flushes it, as
// a published benchmark did. The bytes that are still in the buffer of the stream are
// lost, and the output is not valid JSON.
package main

import (
	"io"

	jsoniter "github.com/json-iterator/go"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Main(codec.Impl{
		Stream: func(w io.Writer, v any) error {
			stream := jsoniter.NewStream(jsoniter.ConfigFastest, w, 512)
			stream.WriteVal(v)
			return stream.Error // and no stream.Flush()
		},
	})
}
