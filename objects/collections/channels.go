package collections

import "github.com/sosgo/sosgo/objects/shapes"

// channels has the classes of System.Threading.Channels.
func channels() []kind { return []kind{of((*Reader).channel), of((*Reader).channelEnd)} }

type channel struct {
	_     shapes.Type `of:"System.Threading.Channels.UnboundedChannel<>|System.Threading.Channels.BoundedChannel<>|System.Threading.Channels.SingleConsumerUnboundedChannel<>"`
	Items shapes.Ref  `field:"_items"`
}

func (r *Reader) channel(s *channel, f *reading) content { return r.wrap(f.object(&s.Items)) }

// A channelEnd is a reader or writer of a channel.
type channelEnd struct {
	_      shapes.Type `of:"System.Threading.Channels.ChannelReader<>|System.Threading.Channels.ChannelWriter<>" fields:"derived"`
	Parent shapes.Ref  `field:"_parent"`
}

func (r *Reader) channelEnd(s *channelEnd, f *reading) content {
	return r.wrap(f.object(&s.Parent))
}
