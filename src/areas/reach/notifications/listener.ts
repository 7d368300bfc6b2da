// Listens to events and queues mails about them. The changes themselves do not wait for this.
import type { Listener } from '../../ground/activity/listeners.js'
import { issueNotices } from './notices/issues.js'
import { mergeRequestNotices } from './notices/merge-requests.js'
import { commentNotice, editNotice, noteNotice } from './notices/notes.js'
import { sendNotice, sendNotices } from './notices/notice.js'
import { pipelineNotices } from './notices/pipelines.js'

export const notifications: Listener = {
  name: 'notifications',
  on: {
    'issue.changed': async told => sendNotices(await issueNotices(told)),
    'merge_request.changed': async told => sendNotices(await mergeRequestNotices(told)),
    'note.created': async told => {
      const notice = await noteNotice(told)
      if (notice) await sendNotice(notice)
    },
    'note.edited': async told => {
      const notice = await editNotice(told)
      if (notice) await sendNotice(notice)
    },
    'commit.commented': async told => {
      const notice = await commentNotice(told)
      if (notice) await sendNotice(notice)
    },
    'pipeline.changed': async told => sendNotices(await pipelineNotices(told))
  }
}
