"""A headless Chromium, driven over WebDriver (W3C) with the standard library alone."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's name, by the standard
KEYS = {"ArrowDown": "\ue015", "End": "\ue010", "Home": "\ue011"}


class Browser:
    """One page. Raises AssertionError with the driver's message where a command fails."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="nereid-browser-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.server = f"http://127.0.0.1:{found[1]}"
                break
        else:
            raise AssertionError("chromedriver did not start")
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--window-size=1500,1100", f"--user-data-dir={self.profile}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium has no sandbox for root
        options = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = self.send("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def close(self):
        if hasattr(self, "session"):
            self.send("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.server + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def command(self, path, body):
        return self.send("POST", f"/session/{self.session}/{path}", body)

    def open(self, path):
        self.command("url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *arguments):
        """The value that a function body returns."""
        return self.command("execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.command("element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.command(f"element/{self.find(selector)}/click", {})

    def type(self, selector, keys):
        self.command(f"element/{self.find(selector)}/value", {"text": "".join(KEYS.get(key, key) for key in keys)})

    def wheel(self, selector, delta):
        origin = {ELEMENT: self.find(selector)}
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        action = {"type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": delta, "origin": origin}
        self.command("actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [action]}]})

    def drag(self, selector, dx):
        origin = {ELEMENT: self.find(selector)}
        steps = [{"type": "pointerMove", "origin": origin, "x": 0, "y": 0}, {"type": "pointerDown", "button": 0},
                 {"type": "pointerMove", "origin": origin, "x": dx, "y": 0, "duration": 50},
                 {"type": "pointerUp", "button": 0}]
        self.command("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def problems(self):
        """What the page wrote to the console as an error or a warning."""
        return [entry["message"] for entry in self.command("se/log", {"type": "browser"})]

    def screenshot(self, path, height=None):
        if height:
            self.command("window/rect", {"width": 1500, "height": height})
        image = self.send("GET", f"/session/{self.session}/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
