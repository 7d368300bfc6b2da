import { lastLines } from '../../../../src/areas/reach/notifications/notices/trace-end.js'
import t from '../../../helpers/tap.js'

t.test('the last lines of a trace are plain text of limited size', async t => {
  t.equal(lastLines(''), '')
  t.equal(lastLines('\u001b[31mred\u001b[0m\r\n10%\r50%\r100%\nbell\u0007\tend\n\n'), 'red\n100%\nbell    end')
  const many = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n')
  t.match(lastLines(many), /^line 70\n[\s\S]*\nline 99$/)
  const wide = Array.from({ length: 100 }, () => 'x'.repeat(5000)).join('\n')
  t.ok(lastLines(wide).length <= 8000)
  t.match(lastLines(wide), /x$/)
  t.equal(lastLines(`turned\u202e${'\ud83d\ude00'}`), `turned${'\ud83d\ude00'}`)
})
