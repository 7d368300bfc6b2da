// Tests the pure parts: signatures, URLs, the schedule of retries and the table of events.
import {
  PROJECT_HOOK_EVENTS,
  projectHookHeader,
  SYSTEM_HOOK_EVENTS,
  systemHookFlag
} from '../../src/webhooks/events.js'
import { nextDelay } from '../../src/webhooks/retry.js'
import { sign, unixSeconds } from '../../src/webhooks/sign.js'
import { checkHookUrl, receiverOf } from '../../src/webhooks/url.js'
import t from '../helpers/tap.js'

t.test('a signature equals the published example of Standard Webhooks', async t => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: new Date(1614265330 * 1000),
    token: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  t.equal(sign({ ...message, body: '{"test": 2432232314}' }), signature)
  t.equal(sign({ ...message, body: Buffer.from('{"test": 2432232314}') }), signature)
  t.not(sign({ ...message, body: '{"test": 2432232315}' }), signature)
  t.equal(unixSeconds(new Date('2026-01-02T03:04:05.999Z')), 1767323045)
})

t.test('a token without whsec_ is itself the key', async t => {
  const message = { id: '1', timestamp: new Date(2000), body: '{}' }
  // echo -n '1.2.{}' | openssl dgst -sha256 -hmac secret -binary | base64
  t.equal(sign({ ...message, token: 'secret' }), 'v1,72EbzgLDv52tyOY4YC27IQSjiGr5nutKKXvEM56cM3U=')
  const tokens = ['whsec_', 'whsec_%%%', 'whsec_a b', 'secret', 'whsec_c2VjcmV0', 'xwhsec_c2VjcmV0']
  const signatures = tokens.map(token => sign({ ...message, token }))
  t.equal(new Set(signatures).size, tokens.length - 1, 'c2VjcmV0 is secret in base64; no other two share a key')
})

t.test('checkHookUrl accepts valid URLs and reports the problem of others', async t => {
  const good = [
    ...['http://example.com', 'HTTPS://example.com:8443/a?b=c#d', 'http://user:pass@example.com/', 'http://[::1]:80/'],
    ...['http://localhost/x', 'http://bücher.example/ü', `http://example.com/${'a'.repeat(1981)}`]
  ]
  t.strictSame(
    good.filter(url => checkHookUrl(url) !== null),
    []
  )
  const bad = {
    'is not an http or https URL': [
      ...[
        '',
        'example.com',
        'ftp://example.com',
        'javascript:alert(1)',
        'http:example.com',
        '//example.com',
        'http:/x'
      ],
      ...['file:///etc/passwd', 'http', 'xhttp://example.com']
    ],
    'has no valid host': [
      ...['http://', 'http:///example.com', 'http://?x', 'http://#x', 'http://:80/', 'http://user@/', 'http://a%00b/'],
      ...['http://example.com:99999/', 'http://[::1/', 'http://[fe80::1%25lo]/', 'http://256.1.1.1/', 'http://a<b/']
    ],
    'has spaces, backslashes or control characters': [
      ...[' http://example.com', 'http://example.com/a b', 'http://example.com\r\nX: y', 'http://exam\tple.com'],
      ...['http://example.com/\u0000', 'http://example.com/\u0085', 'http:\\\\example.com', 'http://a\\@b/', '\n']
    ],
    'is longer than 2000 characters': [`http://example.com/${'a'.repeat(1982)}`]
  }
  for (const [reason, urls] of Object.entries(bad)) {
    for (const url of urls) t.equal(checkHookUrl(url), reason, JSON.stringify(url.slice(0, 50)))
  }
})

t.test('the waits between tries grow, end, and last about a day', async t => {
  const waits = (random: number) => {
    const found: number[] = []
    for (let attempt = 1; ; attempt++) {
      const wait = nextDelay(attempt, () => random)
      if (wait === null) return found
      found.push(wait)
    }
  }
  const hours = (random: number) => waits(random).reduce((sum, wait) => sum + wait, 0) / 3600
  const middle = waits(0.5)
  t.strictSame(
    middle,
    [...middle].sort((a, b) => a - b)
  )
  t.equal(middle.length, 11)
  t.match([hours(0), hours(0.5), hours(1)].map(Math.round), [19, 24, 29])
  t.ok(Number(nextDelay(1, () => 0)) > 0)
  for (const attempt of [12, 13, 1000, 0, -1, 1.5, Number.NaN])
    t.equal(
      nextDelay(attempt, () => 0.5),
      null
    )
})

t.test('events have their flags and headers', async t => {
  t.strictSame(
    SYSTEM_HOOK_EVENTS.filter(event => systemHookFlag(event) !== null),
    ['push', 'tag_push']
  )
  t.equal(systemHookFlag('push'), 'push_events')
  t.equal(systemHookFlag('tag_push'), 'tag_push_events')
  t.equal(projectHookHeader('tag_push'), 'Tag Push Hook')
  t.throws(() => projectHookHeader('user_create'), { message: /no project hook gets the event user_create/ })
  t.throws(() => projectHookHeader('toString'))
  t.strictSame(PROJECT_HOOK_EVENTS.merge_request, { flag: 'merge_requests_events', header: 'Merge Request Hook' })
})

t.test('the receiver of a hook is named without secrets', async t => {
  t.equal(receiverOf('https://me:secret@example.org:8443/in/x?token=secret#secret'), 'https://example.org:8443/in/x')
  t.equal(receiverOf('secret'), '(not a URL)')
})
