// Notes about lines of the changes of a merge request.
import { REPORTER } from '../../../../src/lib/levels.js'
import { makeMergeRequest, makeProject } from '../../../areas/planning/merge-requests/make-merge-requests.js'
import { testApp } from '../../../helpers/app.js'
import { listen } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'
import { signedIn } from './signed-in.js'

const app = await testApp(t)
const base = await listen(app.fastify)

async function subject() {
  const project = await makeProject()
  const { id, iid } = await makeMergeRequest(project)
  const owner = await signedIn(base, project.owner)
  const path = `/${project.path}/merge_requests/${iid}`
  return {
    project,
    owner,
    path,
    mergeRequest: id,
    notes: `/projects/${project.id}/merge_requests/${id}/notes`,
    api: app.as(project.owner)
  }
}

/** The link at the number of a line. */
const linkAt = (html: string, id: string) => {
  const [, href = ''] = new RegExp(`<td id="${id}"><a href="([^"]*)"`).exec(html) ?? []
  return href.replaceAll('&amp;', '&').replace(/#.*/, '')
}

t.test('a line is commented on, and the note stands below it and in the discussion', async t => {
  const { project, owner, path, api, notes, mergeRequest } = await subject()
  const changes = await owner.get(`${path}/diffs`)
  const [, id = ''] = /<td id="(diff-[0-9a-f]+-R1)">/.exec(changes.body) ?? []
  const form = await owner.get(`${path}/diffs${linkAt(changes.body, id)}`)
  t.match(form.body, /<tr class="notes"><td colspan="3">\s*<form method="post" action="[^"]*\/line_notes">/)
  const made = await owner.submit(form, '/line_notes', { note: 'Why *this*? <b>' })
  t.equal(made.status, 303)
  const [, note = ''] = /#note_(\d+)$/.exec(made.location ?? '') ?? []
  t.equal(made.location, `${path}/diffs?#note_${note}`, 'all files stay')
  t.match(form.body, 'name="preview" value="note"')
  t.match(form.body, `<a href="${path}/diffs?#${id}">Cancel</a>`)
  const only = await owner.get(`${path}/diffs?view=parallel&file=feature.txt`)
  const second = await owner.get(`${path}/diffs${linkAt(only.body, id)}`)
  t.match(second.body, `<a href="${path}/diffs?view=parallel&amp;file=feature.txt#${id}">Cancel</a>`)
  const empty = await owner.submit(second, '/line_notes', { note: ' ' })
  t.match(empty.body, `<a href="${path}/diffs?view=parallel&amp;file=feature.txt">Cancel</a>`)
  const also = await owner.submit(empty, '/line_notes', { note: 'And *that*?' })
  t.match(also.location, /\/diffs\?view=parallel&file=feature\.txt#note_\d+$/)
  const kept = await owner.submit(form, '/line_notes', { note: '/nothing\n\nUseful' })
  t.match((await owner.get(kept.location ?? '')).body, 'Nothing was done for <code>/nothing</code>')
  await owner.submit(
    await owner.get(`/${project.path}/notes/merge_requests/${mergeRequest}/${/\d+$/.exec(kept.location ?? '')}/edit`),
    'Delete the comment'
  )
  const shown = await owner.get(made.location ?? '')
  t.match(shown.body, new RegExp(`<tr class="notes"><td colspan="3">\\s*<article class="box" id="note_${note}">`))
  t.match(shown.body, 'Why <em>this</em>? &lt;b&gt;')
  t.match((await owner.get(`${path}/diffs?view=parallel`)).body, `id="note_${note}"`)
  t.match(
    (await owner.get(path)).body,
    /aria-label="Line 1 of feature.txt" tabindex="0"><table class="inline"><tr><td><\/td><td>1<\/td><td class="added">feature<\/td><\/tr><\/table><\/div>\s*<div class="text"><p>Why <em>/
  )
  const page = await owner.get(path)
  t.match(page.body, new RegExp(`on <a href="${path}/diffs/notes/${note}">line 1</a> of feature.txt`))
  t.match((await owner.get(`${path}/diffs/notes/${note}`)).location, `/diffs?file=feature.txt#note_${note}`)
  t.match(
    (await api.get(notes)).json(),
    [{ id: Number(note), body: 'Why *this*? <b>' }, { body: 'And *that*?' }],
    'the API has it'
  )
})

t.test('a note stays with its version, and is shown as long as its file does not change', async t => {
  const { owner, path, project } = await subject()
  const changes = await owner.get(`${path}/diffs`)
  const [, id = ''] = /<td id="(diff-[0-9a-f]+-R1)">/.exec(changes.body) ?? []
  const form = await owner.get(`${path}/diffs${linkAt(changes.body, id)}`)
  const made = await owner.submit(form, '/line_notes', { note: 'Old & good' })
  const [, note = ''] = /#note_(\d+)$/.exec(made.location ?? '') ?? []
  await app.make.file(project, 'other.txt', 'other\n', 'feature')
  await app.runJobs()
  t.match((await owner.get(`${path}/diffs`)).body, `id="note_${note}"`, 'another file changed')
  const body = { branch_name: 'feature', commit_message: 'x', file_path: 'feature.txt', content: 'changed\n' }
  t.equal((await app.as(project.owner).put(`/projects/${project.id}/repository/files`, body)).statusCode, 200)
  await app.runJobs()
  t.notMatch((await owner.get(`${path}/diffs`)).body, `id="note_${note}"`)
  const found = (await owner.get(`${path}/diffs/notes/${note}`)).location ?? ''
  t.match(found, /\?version=\d+&file=feature\.txt#note_/)
  const old = await owner.get(found)
  t.match(old.body, `id="note_${note}"`)
  t.notMatch(old.body, '?note=', 'an older version gets no notes')

  const late = await owner.submit(form, '/line_notes', { note: 'Too <i>late' })
  t.equal(late.status, 409)
  t.match(late.body, 'Too &lt;i&gt;late</textarea>')
  t.equal((await owner.submit(late, '/line_notes', { note: 'Too late' })).status, 303, 'at the new commit')
})

t.test('wrong lines and empty notes are refused, with what was entered', async t => {
  const { owner, path, project } = await subject()
  const changes = await owner.get(`${path}/diffs`)
  const [, id = ''] = /<td id="(diff-[0-9a-f]+-R1)">/.exec(changes.body) ?? []
  const send = async (values: Record<string, string>) =>
    owner.submit(await owner.get(`${path}/diffs${linkAt(changes.body, id)}`), '/line_notes', {
      note: 'Kept',
      ...values
    })
  const wrong: Record<string, string>[] = [{ line: '2' }, { side: 'old' }, { path: 'README' }, { path: '../x' }]
  for (const values of wrong) {
    const refused = await send(values)
    t.equal(refused.status, 400, JSON.stringify(values))
    t.match(refused.body, 'is not part of the changes')
    t.match(refused.body, 'Kept</textarea>')
  }
  t.equal((await send({ line: '0' })).status, 400)
  t.match((await send({ note: ' ' })).body, /role="alert">[^<]*can&#39;t be blank/)
  const reporter = await signedIn(base, await app.make.member(project, REPORTER))
  t.match((await reporter.get(`${path}/diffs`)).body, '?note=', 'reporters comment, too')
  const stranger = await signedIn(base, await app.make.user())
  t.equal((await stranger.get(`${path}/diffs/notes/1`)).status, 404)
})
