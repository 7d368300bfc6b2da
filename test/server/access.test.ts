import { testAccess } from '../access/matrix.js'
import { fillWithBuild } from '../areas/ci/builds/make-builds.js'
import { access as crossOrigin } from './cross-origin.access.js'
import { access as docs } from './docs.access.js'
import { access as gitHttp } from './git-http.access.js'
import { access as pages } from './pages.access.js'

testAccess([pages, docs, gitHttp, crossOrigin], fillWithBuild)
