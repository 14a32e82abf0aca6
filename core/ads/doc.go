// Package ads serves xDS: to each connected proxy the clusters and endpoints of
// its view, and from then on what changes in it.
//
// The core's snapshots and transitions come in; messages go out to streams. What
// many proxies get is built and serialised once: clusters per audience, an
// assignment per view. A stream holds a cursor into the news of its audience,
// has at most one message of each type unacknowledged, and makes the next one
// from the newest state when it can be sent. News comes in rounds: the next begins when
// nearly all streams have been sent the last one. So a slow proxy delays others by
// a fraction of a second at most, and
// changes merge where there is no time to send each. What a proxy acknowledges or
// refuses changes the status of its session and of the delivery, nothing else.
package ads
