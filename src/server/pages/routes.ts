// The pages of the product, one line for each file.
import type { FastifyPluginAsync } from 'fastify'
import { placeNotificationPages } from './account/notifications.js'
import { accountPages } from './account/routes.js'
import { artifactPages } from './ci/artifacts.js'
import { buildPages } from './ci/builds.js'
import { environmentPages } from './ci/environments.js'
import { pipelinePages } from './ci/pipelines.js'
import { codePages } from './code/routes.js'
import { mergeRequestActions } from './merge-requests/actions.js'
import { mergeRequestEditPages } from './merge-requests/edit.js'
import { lineNotePages } from './merge-requests/line-notes.js'
import { mergeRequestListPages } from './merge-requests/lists.js'
import { mergeRequestPages } from './merge-requests/merge-request.js'
import { newMergeRequestPages } from './merge-requests/new.js'
import { servePages } from './page-routes.js'
import { activityOfManyPages } from './people/activity.js'
import { projectListPages } from './people/explore.js'
import { groupPages } from './people/groups.js'
import { homePage } from './people/home.js'
import { memberPages } from './people/members.js'
import { searchPages } from './people/search.js'
import { userPages } from './people/users.js'
import { boardPages } from './planning/boards.js'
import { issueFormPages } from './planning/issue-forms.js'
import { issuePages } from './planning/issues.js'
import { labelPages } from './planning/labels.js'
import { milestonePages } from './planning/milestones.js'
import { notePages } from './planning/notes.js'
import { projectPages } from './projects/routes.js'
import { settingPages } from './settings/routes.js'
import { previewPages } from './text/preview.js'
import { uploadPages } from './text/uploads.js'

export const pageRoutes: FastifyPluginAsync = async app => {
  servePages(app)
  await app.register(codePages)
  await app.register(mergeRequestListPages)
  await app.register(projectPages)
  await app.register(previewPages)
  await app.register(uploadPages)
  await app.register(homePage)
  await app.register(activityOfManyPages)
  await app.register(projectListPages)
  await app.register(groupPages)
  await app.register(memberPages)
  await app.register(searchPages)
  await app.register(userPages)
  await app.register(boardPages)
  await app.register(issuePages)
  await app.register(issueFormPages)
  await app.register(labelPages)
  await app.register(milestonePages)
  await app.register(notePages)
  await app.register(pipelinePages)
  await app.register(buildPages)
  await app.register(artifactPages)
  await app.register(environmentPages)
  await app.register(accountPages)
  await app.register(mergeRequestPages)
  await app.register(mergeRequestActions)
  await app.register(mergeRequestEditPages)
  await app.register(newMergeRequestPages)
  await app.register(lineNotePages)
  await app.register(placeNotificationPages)
  await app.register(settingPages)
}
