import { isLocalPath, isWebUrl } from '../../src/lib/link.js'
import t from '../helpers/tap.js'

t.test('recognises web URLs', async t => {
  for (const url of [
    'http://x',
    'HTTPS://example.org:8080/a/b?c=d#e',
    'https://[::1]/',
    'https://xn--bcher-kva.example/%C3%A4'
  ]) {
    t.ok(isWebUrl(url), url)
  }
  for (const url of [
    '',
    'x',
    'http://',
    'http:x',
    'http:\\\\x',
    'https://x\\y',
    '//x',
    'ftp://x',
    'javascript:alert(1)//http://x',
    'https://u@x',
    'https://u:p@x',
    'https://x/ y',
    'https://x/\r\nSet-Cookie: a=b',
    'https://bücher.example/'
  ]) {
    t.notOk(isWebUrl(url), JSON.stringify(url))
  }
})

t.test('recognises local paths', async t => {
  for (const path of ['/', '/users/sign_in', '/a?b=//c#d', '/..//x']) t.ok(isLocalPath(path), path)
  for (const path of ['', 'a', '//x', '/\\x', '/a\\b', '\\x', '/\t/x', '/a b', '/a\r\nb', '/ä', 'javascript:x']) {
    t.notOk(isLocalPath(path), JSON.stringify(path))
  }
})
