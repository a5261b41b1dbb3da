package face

import (
	"google.golang.org/grpc/encoding"
	encoded "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/tarebench/tare/contender/server"
)

// codec is grpc-go's codec for protocol buffers with a count of the decoded bytes. It receives the length of a
// message; to compute it again would cost as much as a part of the decoder.
type codec struct {
	encoding.CodecV2
	receipts *server.Receipts
}

func newCodec(receipts *server.Receipts) codec {
	return codec{encoding.GetCodecV2(encoded.Name), receipts}
}

func (c codec) Unmarshal(data mem.BufferSlice, m any) error {
	c.receipts.Body(int64(data.Len()))
	return c.CodecV2.Unmarshal(data, m)
}
