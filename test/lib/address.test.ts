import { isForbiddenTarget, parseRanges } from '../../src/lib/address.js'
import t from '../helpers/tap.js'

const forbidden = {
  'IPv4 special ranges': [
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.9.9.9'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1'],
    ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
    ...['255.255.255.255', '168.63.129.16']
  ],
  'IPv6 special ranges': [
    ...['::', '::1', 'fe80::1', 'fe80::1%lo', 'fec0::1', 'fc00::1', 'fdff::1', 'ff02::1', '100::1', '2001:db8::1'],
    ...['3fff::1', '2001:2::1', '2001:10::1', '2001:20::1', '5f00::1', '4000::1', '64:ff9b:1::a00:1', '1::1']
  ],
  'IPv6 forms of refused IPv4 addresses': [
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a9fe:a9fe', '::ffff:0:127.0.0.1', '::127.0.0.1'],
    ...[
      '::ffff:127.0.0.1%lo',
      '::127.0.0.1%lo',
      '64:ff9b::127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      '2002:7f00:1::',
      '2002:a00:1::1',
      '2001:0:a00:1::',
      '::a00:1'
    ],
    '::ffff:168.63.129.16'
  ],
  'tunnels with any content': ['2002:808:808::1', '2001:0:808:808::1', '::ffff:0:8.8.8.8', '::8.8.8.8'],
  'texts that are not plain addresses': [
    ...['', 'localhost', '127.1', '0x7f000001', '2130706433', '0177.0.0.1', '8.8.8.8.', ' 8.8.8.8', '[::1]', '8.8.8'],
    ...['8.8.8.8/32', '08.8.8.8', '８.8.8.8']
  ]
}

t.test('refuses', async t => {
  for (const [what, addresses] of Object.entries(forbidden)) {
    t.strictSame(
      addresses.filter(address => !isForbiddenTarget(address, [])),
      [],
      what
    )
  }
})

t.test('accepts public addresses', async t => {
  const addresses = [
    ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '223.255.255.255'],
    ...['2001:4860:4860::8888', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8']
  ]
  t.strictSame(
    addresses.filter(address => isForbiddenTarget(address, [])),
    []
  )
})

t.test('accepts the addresses of the allowed ranges and no others', async t => {
  const cases: [allow: string[], passing: string[], refused: string[]][] = [
    [
      ['127.0.0.1'],
      ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:127.0.0.1%lo'],
      ['127.0.0.2', '::1', '2002:7f00:1::', '::127.0.0.1', '::7f00:1']
    ],
    [
      ['10.0.0.0/8', ' fd00::/8 '],
      ['10.1.2.3', '64:ff9b::10.1.2.3', 'fd12::1'],
      ['192.168.0.1', 'fc00::1', '127.0.0.1']
    ],
    [['10.9.8.7/8'], ['10.1.2.3'], ['127.0.0.1']],
    [['::ffff:10.0.0.0/104'], ['10.1.2.3', '::ffff:10.1.2.3'], ['192.168.0.1']],
    [['::1'], ['::1', '0:0:0:0:0:0:0:1'], ['::2', '127.0.0.1', '0.0.0.1']],
    [['::/0'], ['::1', 'fe80::1', '2002:7f00:1::'], ['127.0.0.1', '::ffff:127.0.0.1']],
    [['0.0.0.0/0'], ['127.0.0.1', '255.255.255.255', '::ffff:10.0.0.1'], ['::1', '2002:7f00:1::', '127.1']],
    [['fe80::/10'], ['fe80::1%eth0'], ['fec0::1']]
  ]
  for (const [allow, passing, refused] of cases) {
    const ranges = parseRanges(allow)
    const through = [...passing, ...refused].filter(address => !isForbiddenTarget(address, ranges))
    t.strictSame(through, passing, allow.join(' '))
  }
})

t.test('the error names the text that is not a range', async t => {
  const wrong = [
    ...['', 'localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8.0', '10.0.0/8', '10.1'],
    ...['::/129', 'fe80::1%eth0', '*', '0x7f000001', '10.0.0.0-10.0.0.9', '010.0.0.1', '10.0.0.0/0x8', '10.0.0.0 /8']
  ]
  for (const text of wrong) {
    t.throws(() => parseRanges(['127.0.0.1', text]), {
      message: `${JSON.stringify(text)} is not an address or a range such as 10.0.0.0/8 or fd00::/8`
    })
  }
  t.strictSame(parseRanges([]), [])
})
