// Command jsoniter-stream-unflushed reproduces a published mistake: such a program is called a trap. It never
// flushes json-iterator's Stream. Bytes in its buffer are lost, and the output is not valid JSON.
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
